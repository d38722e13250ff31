"""Completion scripts for shells: flags, passes and the choices of flags."""

from __future__ import annotations

import re

from neuron_ctrldep.passes.cpp_names import CANDIDATES
from neuron_ctrldep.passes.registry import names
from neuron_ctrldep.tools.opt_flags import CommandLine

_BASH = """\
# bash completion of {tool}: source it, or put it into a bash-completion folder.
{function}() {{
    local current="${{COMP_WORDS[COMP_CWORD]}}"
    COMPREPLY=()
    case "$current" in
        -*) COMPREPLY=($(compgen -W "{words}" -- "$current")) ;;
        *) COMPREPLY=($(compgen -f -- "$current")) ;;
    esac
}}
complete -o nosort -o filenames -F {function} {tool}
"""

_ZSH = """\
#compdef {tool}
# zsh completion of {tool}: put it as _{tool} into a folder of $fpath.
_arguments \\
{arguments}
    '*:input:_files'
"""


def completion_script(tool: str, line: CommandLine, shell: str) -> str:
    """The script for ``shell`` (``bash`` or ``zsh``)."""
    flags: dict[str, str] = {}
    for name, action in line.actions.items():
        flags[name] = (action.help or "").split(";")[0]
        for choice in action.choices or ():
            flags[f"{name}={choice}"] = flags[name]
    for name in (*names(), *CANDIDATES):
        if re.fullmatch(r"[\w.+-]+", name):  # names of other packages may be anything, and the shell reads this
            flags.setdefault(f"--{name}", "pass")
    if shell == "bash":
        function = "_" + tool.replace("-", "_")
        return _BASH.format(tool=tool, function=function, words=" ".join(flags))
    arguments = "\n".join(f"    '{flag}[{_zsh(words)}]' \\" for flag, words in flags.items())
    return _ZSH.format(tool=tool, arguments=arguments)


def _zsh(words: str) -> str:
    """``words`` inside a description of ``_arguments``, inside single quotes."""
    return words.replace("'", "").replace("[", "(").replace("]", ")").replace(":", " ")
