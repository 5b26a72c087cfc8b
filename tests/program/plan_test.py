"""plan: the steps of a batch, their kernels, memory and cost."""

from program import MODELS, USAGE, ProgramTest

CLASSIFIER, TWO_ENDS = MODELS / "classifier.keras", MODELS / "two_ends.keras"


class Plan(ProgramTest):
    def plan(self, model, *options):
        return self.succeeds("plan", "--json", model, *options).json

    def test_prints_a_line_for_each_step_and_the_totals(self):
        steps = self.plan(CLASSIFIER)["steps"]
        printed = self.succeeds("plan", CLASSIFIER).out
        self.assertIn("predict, model 'classifier', a batch of 32\n", printed)
        for index, step in enumerate(steps):
            self.assertRegex(printed, rf"(?m)^ +{index}  cpu:0 .* {step['kernel']} \(")
        self.assertRegex(printed, rf"(?m)^{len(steps)} steps, .* MFLOP, .* arena .*, scratch at most")

    def test_json_has_the_cost_of_each_step(self):
        plan = self.plan(CLASSIFIER, "-b", 8)
        self.assertEqual((plan["model"], plan["program"], plan["batch_size"]),
                         ("classifier", "predict", 8))
        first = next(step for step in plan["steps"] if "matmul" in step["ops"])
        self.assertEqual(first["layer"], "hidden")
        self.assertEqual(first["device"], "cpu:0")
        self.assertEqual(first["output_bytes"], 8 * 5 * 4)
        self.assertGreaterEqual(first["flops"], 2 * 8 * 4 * 5)
        self.assertGreaterEqual(first["bytes"], 4 * (8 * 4 + 4 * 5 + 8 * 5))
        for total in ("flops", "bytes"):
            self.assertAlmostEqual(plan[total], sum(step[total] for step in plan["steps"]))
        self.assertEqual(plan["scratch_bytes"], max(s["scratch_bytes"] for s in plan["steps"]))
        self.assertGreater(plan["arena_bytes"], 0)

    def test_costs_grow_with_the_batch(self):
        one, many = (self.plan(CLASSIFIER, "--batch-size", n)["flops"] for n in (1, 64))
        self.assertEqual(64 * one, many)

    def test_explain_names_fused_ops_and_refusals(self):
        plan = self.plan(CLASSIFIER)
        explained = self.succeeds("plan", "--explain", CLASSIFIER).out
        self.assertTrue(any(len(step["ops"]) > 1 for step in plan["steps"]))
        for step in plan["steps"]:
            if len(step["ops"]) > 1:
                self.assertIn("fused: " + ", ".join(step["ops"]), explained)
            for refused in step["refused"]:
                self.assertIn(f"not {refused['kernel']}: {refused['reason']}", explained)
        self.assertNotIn("fused: ", self.succeeds("plan", CLASSIFIER).out)

    def test_the_reference_backend_runs_unfused_ops(self):
        steps = self.plan(CLASSIFIER, "--backend", "reference")["steps"]
        self.assertTrue(all(step["kernel"].startswith("reference: ") for step in steps))
        self.assertTrue(all(len(step["ops"]) == 1 for step in steps))

    def test_a_training_step(self):
        plan = self.plan(CLASSIFIER, "--train")
        self.assertEqual(plan["program"], "train")
        self.assertGreater(plan["flops"], 2 * self.plan(CLASSIFIER)["flops"])
        self.refuses("plan", "--train", MODELS / "fixed.keras", status=USAGE,
                     message="give --loss NAME")
        plan = self.plan(MODELS / "fixed.keras", "--train", "--loss", "mse")
        self.assertEqual(plan["program"], "train")

    def test_open_axes_and_several_inputs(self):
        self.assertGreater(len(self.plan(TWO_ENDS, "--open-size", 5)["steps"]), 3)
        self.assertEqual(self.plan(MODELS / "stateful.keras")["batch_size"], 4)

    def test_refuses_other_backends(self):
        self.refuses("plan", CLASSIFIER, "--backend", "tpu", status=USAGE,
                     message="--backend is one of cpu, cuda, reference; got 'tpu'")
