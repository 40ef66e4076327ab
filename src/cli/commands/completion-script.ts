import type { Command } from 'commander'

export const SHELLS = ['bash', 'zsh', 'fish'] as const
export type Shell = (typeof SHELLS)[number]

/**
 * Generates the completion script of a shell. Fixed words are part of the script; names of jobs and
 * runs are requested when needed.
 */
export function completionFor(shell: Shell, program: Command): string {
  switch (shell) {
    case 'bash':
      return `${valuesOf(program)}
_punctual() {
  local word=\${COMP_WORDS[COMP_CWORD]}
  COMPREPLY=($(compgen -W "$(_punctual_values "$word" "\${COMP_WORDS[@]:1:COMP_CWORD-1}")" -- "$word"))
}
complete -F _punctual punctual
`
    case 'zsh':
      return `#compdef punctual
${valuesOf(program)}
_punctual() {
  compadd -- $(_punctual_values "$words[CURRENT]" "\${(@)words[2,CURRENT-1]}")
}
compdef _punctual punctual
`
    case 'fish':
      return fishOf(program)
  }
}

const EITHER = ['show', 'logs', 'why', 'steps']
const RUNS = ['wait', 'cancel', 'retry', 'replay', 'approve', 'refuse']
const JOBS = ['rm', 'graph', 'run', 'pause', 'resume', 'schedules', 'next', 'history', 'skip']
const ASK_RUNS = 'punctual runs -n 20 -o name 2>/dev/null'
const ASK_JOBS = 'punctual ls -o name 2>/dev/null'

/**
 * A function for bash and zsh: its arguments are the word being typed and those before it; it
 * prints candidates.
 */
function valuesOf(program: Command): string {
  const names = program.commands.map((command) => command.name())
  const flags = program.commands.map(
    (command) => `    ${command.name()}) echo '${flagsOf(program, command)}' ;;`,
  )
  const parts = program.commands
    .filter(({ commands }) => commands.length > 0)
    .map((command) => `    ${command.name()}) echo '${partsOf(command)}' ;;`)
  return `_punctual_values() {
  local typed=$1 command= before=
  shift
  for before in "$@"; do
    case $before in
      --) return ;;
      -*) ;;
      *) command=\${command:-$before} ;;
    esac
  done
  case $before in
    -o|--output) echo 'table json jsonl name'; return ;;
  esac
  if [ -z "$command" ]; then echo '${names.join(' ')}'; return; fi
  case $typed in -*)
    case $command in
${flags.join('\n')}
    esac
    return ;;
  esac
  case $command in
    ${JOBS.join('|')}) ${ASK_JOBS} ;;
    ${EITHER.join('|')}) echo '@last @last-failed'; ${ASK_JOBS}; ${ASK_RUNS} ;;
    ${RUNS.join('|')}) echo '@last @last-failed'; ${ASK_RUNS} ;;
    completion) echo '${SHELLS.join(' ')}' ;;
${parts.join('\n')}
  esac
}`
}

function fishOf(program: Command): string {
  const lines = program.commands.flatMap((command) => {
    const name = command.name()
    const first = `complete -c punctual -n __fish_use_subcommand -f -a ${name} -d ${quoted(command.description())}`
    const seen = `complete -c punctual -n '__fish_seen_subcommand_from ${name}' -f`
    return [
      first,
      ...(JOBS.includes(name) ? [`${seen} -a '(${ASK_JOBS})'`] : []),
      ...(EITHER.includes(name)
        ? [`${seen} -a '@last @last-failed (${ASK_JOBS}) (${ASK_RUNS})'`]
        : []),
      ...(RUNS.includes(name) ? [`${seen} -a '@last @last-failed (${ASK_RUNS})'`] : []),
      ...(command.commands.length > 0 ? [`${seen} -a '${partsOf(command)}'`] : []),
    ]
  })
  return `${lines.join('\n')}\n`
}

function partsOf(command: Command): string {
  return command.commands.map((part) => part.name()).join(' ')
}

function flagsOf(program: Command, command: Command): string {
  const options = [...command.options, ...program.options]
  return [...options.flatMap(({ long }) => long ?? []), '--help'].join(' ')
}

function quoted(text: string): string {
  return `'${text.replaceAll(/['\\]/g, '\\$&')}'`
}
