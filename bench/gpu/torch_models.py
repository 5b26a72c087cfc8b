"""The models of workload.h in PyTorch: each function gives a network, a batch, its targets, a loss
and one sample to predict."""

import torch

nn = torch.nn
functional = torch.nn.functional


def mlp():
    net = nn.Sequential(nn.Linear(784, 512), nn.ReLU(), nn.Linear(512, 512), nn.ReLU(),
                        nn.Linear(512, 10))
    return (net, torch.rand(128, 784), torch.randint(0, 10, (128,)), functional.cross_entropy,
            torch.rand(1, 784))


def convnet():
    net = nn.Sequential(nn.Conv2d(1, 32, 3), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(32, 64, 3),
                        nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(), nn.Dropout(0.5),
                        nn.Linear(1600, 10))
    return (net, torch.rand(128, 1, 28, 28), torch.randint(0, 10, (128,)),
            functional.cross_entropy, torch.rand(1, 1, 28, 28))


class MaskedLSTM(nn.Module):
    """Packed sequences: cuDNN does no work for what is masked."""

    def __init__(self):
        super().__init__()
        self.table = nn.Embedding(20000, 128, padding_idx=0)
        self.lstm = nn.LSTM(128, 128, batch_first=True)
        self.head = nn.Linear(128, 1)

    def forward(self, x):
        lengths = (x != 0).sum(1).cpu()
        packed = nn.utils.rnn.pack_padded_sequence(self.table(x), lengths, batch_first=True,
                                                   enforce_sorted=False)
        _, (h, _) = self.lstm(packed)
        return self.head(h[-1])


def lstm():
    def reviews(count):
        x = torch.randint(1, 20000, (count, 200))
        for row in range(count):
            x[row, 50 + row * 37 % 151:] = 0
        return x

    def loss(logits, y):
        return functional.binary_cross_entropy_with_logits(logits.float(), y)

    return MaskedLSTM(), reviews(64), torch.randint(0, 2, (64, 1)).float(), loss, reviews(1)


class BertLayer(nn.Module):
    def __init__(self, width, heads, hidden):
        super().__init__()
        self.heads = heads
        self.qkv = nn.Linear(width, 3 * width)
        self.out = nn.Linear(width, width)
        self.wide, self.narrow = nn.Linear(width, hidden), nn.Linear(hidden, width)
        self.norm1, self.norm2 = nn.LayerNorm(width, 1e-12), nn.LayerNorm(width, 1e-12)
        self.drop = nn.Dropout(0.1)

    def forward(self, x):
        batch, steps, width = x.shape
        q, k, v = self.qkv(x).view(batch, steps, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        attended = functional.scaled_dot_product_attention(q, k, v)
        attended = self.out(attended.transpose(1, 2).reshape(batch, steps, width))
        x = self.norm1(x + self.drop(attended))
        return self.norm2(x + self.drop(self.narrow(functional.gelu(self.wide(x)))))


class Bert(nn.Module):
    def __init__(self):
        super().__init__()
        width = 768
        self.words, self.positions = nn.Embedding(30522, width), nn.Embedding(512, width)
        self.norm = nn.LayerNorm(width, 1e-12)
        self.drop = nn.Dropout(0.1)
        self.layers = nn.ModuleList(BertLayer(width, 12, 3072) for _ in range(12))
        self.pool, self.head = nn.Linear(width, width), nn.Linear(width, 2)

    def forward(self, x):
        h = self.words(x) + self.positions(torch.arange(x.shape[1], device=x.device))
        h = self.drop(self.norm(h))
        for layer in self.layers:
            h = layer(h)
        return self.head(self.drop(torch.tanh(self.pool(h[:, 0]))))


def bert():
    return (Bert(), torch.randint(0, 30522, (32, 128)), torch.randint(0, 2, (32,)),
            functional.cross_entropy, torch.randint(0, 30522, (1, 128)))


class Bottleneck(nn.Module):
    def __init__(self, channels, filters, stride, widens):
        super().__init__()
        wide = 4 * filters
        self.past = self.normalized_conv(channels, wide, 1, stride) if widens else nn.Identity()
        self.convs = nn.Sequential(
            self.normalized_conv(channels, filters, 1, stride), nn.ReLU(inplace=True),
            self.normalized_conv(filters, filters, 3, 1), nn.ReLU(inplace=True),
            self.normalized_conv(filters, wide, 1, 1))

    @staticmethod
    def normalized_conv(channels, filters, window, stride):
        return nn.Sequential(nn.Conv2d(channels, filters, window, stride, window // 2),
                             nn.BatchNorm2d(filters, 1.001e-5, 0.01))

    def forward(self, x):
        return functional.relu(self.past(x) + self.convs(x), inplace=True)


def resnet50():
    layers = [Bottleneck.normalized_conv(3, 64, 7, 2), nn.ReLU(inplace=True), nn.MaxPool2d(3, 2, 1)]
    channels = 64
    for filters, blocks in [(64, 3), (128, 4), (256, 6), (512, 3)]:
        for i in range(blocks):
            stride = 2 if i == 0 and filters > 64 else 1
            layers.append(Bottleneck(channels, filters, stride, i == 0))
            channels = 4 * filters
    net = nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(2048, 1000))
    last = torch.channels_last
    return (net.to(memory_format=last), torch.rand(128, 3, 224, 224).to(memory_format=last),
            torch.randint(0, 1000, (128,)), functional.cross_entropy,
            torch.rand(1, 3, 224, 224).to(memory_format=last))
