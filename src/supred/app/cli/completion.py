"""Print a script that completes commands and options in the shell."""

import argparse

HELP = "print a script for tab completion in bash or zsh"

BASH = """\
# supred completion for bash: source <(supred completion bash)
_supred() {{
    local word="${{COMP_WORDS[COMP_CWORD]}}" before="${{COMP_WORDS[COMP_CWORD-1]}}"
    case "$before" in
{values}
    esac
    if [ "$COMP_CWORD" -eq 1 ]; then
        COMPREPLY=( $(compgen -W "{commands} --help --version" -- "$word") )
        return
    fi
    if [[ "$word" == -* ]]; then
        case "${{COMP_WORDS[1]}}" in
{options}
        esac
        return
    fi
    case "${{COMP_WORDS[1]}}" in
{positionals}
    esac
    COMPREPLY=( $(compgen -f -- "$word") )
}}
complete -o filenames -F _supred supred
"""

# zsh reads the script for bash by its own emulation.
ZSH = """\
# supred completion for zsh: source <(supred completion zsh)
autoload -U +X compinit && compinit -u
autoload -U +X bashcompinit && bashcompinit
{bash}"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument("shell", choices=("bash", "zsh"))


def run(options: argparse.Namespace) -> int:
    """Run the command."""
    script = bash_script()
    print(script if options.shell == "bash" else ZSH.format(bash=script), end="")
    return 0


def bash_script() -> str:
    """Return the script for bash, made from the parser of the commands."""
    from supred.app.cli.main import make_parser

    parsers = _commands(make_parser())
    values: dict[str, str] = {"--dataset": _datasets()}
    options, positionals = [], []
    for name, parser in parsers.items():
        found = [option for action in parser._actions for option in action.option_strings]
        options.append(
            f'            {name}) COMPREPLY=( $(compgen -W "{" ".join(found)}" -- "$word") ) ;;'
        )
        for action in parser._actions:
            if not action.choices:
                continue
            words = " ".join(str(choice) for choice in action.choices)
            for option in action.option_strings:
                values[option] = words
            if not action.option_strings:
                positionals.append(
                    f'        {name}) COMPREPLY=( $(compgen -W "{words}" -- "$word") ); return ;;'
                )
    lines = [
        f'        {option}) COMPREPLY=( $(compgen -W "{words}" -- "$word") ); return ;;'
        for option, words in sorted(values.items())
    ]
    return BASH.format(
        values="\n".join(lines),
        commands=" ".join(parsers),
        options="\n".join(options),
        positionals="\n".join(positionals) or "        *) ;;",
    )


def _commands(parser: argparse.ArgumentParser) -> dict[str, argparse.ArgumentParser]:
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            return dict(action.choices)
    return {}


def _datasets() -> str:
    from supred.app.tables.builtin import BUILTIN

    return " ".join(BUILTIN)
