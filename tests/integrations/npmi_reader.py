"""Run by an environment with TensorBoard 2.4 to 2.12: what its nPMI plugin serves of a log folder, as JSON."""

import json
import sys

from tensorboard.backend.event_processing import data_provider, plugin_event_multiplexer
from tensorboard.context import RequestContext
from tensorboard.plugins import base_plugin
from tensorboard.plugins.npmi import npmi_plugin

multiplexer = plugin_event_multiplexer.EventMultiplexer()
multiplexer.AddRunsFromDirectory(sys.argv[1])
multiplexer.Reload()
provider = data_provider.MultiplexerDataProvider(multiplexer, sys.argv[1])
context = base_plugin.TBContext(logdir=sys.argv[1], multiplexer=multiplexer, data_provider=provider)
plugin = npmi_plugin.NpmiPlugin(context)


def plain(answer):
    """Early versions of the plugin answer with text, later ones with what the text would say."""
    return json.loads(answer) if isinstance(answer, str) else answer


served = {
    name: plain(getattr(plugin, f"{name}_impl")(RequestContext(), experiment=""))
    for name in ("tags", "annotations", "metrics", "values")
}
print(json.dumps(served))
