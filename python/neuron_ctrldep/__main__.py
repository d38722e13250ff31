"""``python -m neuron_ctrldep`` is ``neuron-ctrldep``."""

from neuron_ctrldep.tools.main import entry

if __name__ == "__main__":
    entry()
