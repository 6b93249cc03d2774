"""A plugin of usdview with a menu: Simulate, live on the stage that is open, and Bake, to a layer beside it.

export PXR_PLUGINPATH_NAME=$(python -c "import warp_artic.extensions.usd as e; print(e.__path__[0])")
"""

from pxr import Tf
from pxr.Usdviewq.plugin import PluginContainer
from pxr.Usdviewq.qt import QtCore
from warp_artic.extensions.usd.usdview_commands import Commands

MENU = "warp_artic"


def start_timer(parent, milliseconds, function):
    """Call a function again and again in the event loop of Qt; gives what ends that."""
    timer = QtCore.QTimer(parent)
    timer.timeout.connect(function)
    timer.start(milliseconds)
    return timer.stop


class WarpArticPlugin(PluginContainer):
    """Registers both commands and puts them into a menu."""

    def registerPlugins(self, plugRegistry, usdviewApi):
        """Called by usdview when it starts."""
        commands = Commands(start_timer)
        self._items = [
            plugRegistry.registerCommandPlugin("warp_artic.simulate", "Simulate", commands.simulate),
            plugRegistry.registerCommandPlugin("warp_artic.bake", "Bake", commands.bake),
        ]

    def configureView(self, plugRegistry, plugUIBuilder):
        """Called by usdview after that."""
        menu = plugUIBuilder.findOrCreateMenu(MENU)
        for item in self._items:
            menu.addItem(item)


Tf.Type.Define(WarpArticPlugin)
