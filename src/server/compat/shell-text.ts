import type { JobDefinition } from '../../core/job/job-definition.ts'
import { DEFAULT_SHELL, isProcessWork, type ProcessWork, type Work } from '../../core/work/work.ts'

/**
 * Work as one shell text, for workers that can run nothing else; its environment is part of the
 * text. `null` for work that a shell cannot express.
 */
export function shellTextOf(work: Work | null): string | null {
  if (work === null || !isProcessWork(work)) return null
  // A command with limits must not start without them, and only regular workers can enforce them.
  if (work.limits !== undefined || work.run_as !== undefined) return null
  const { cwd, env, stdin, umask } = work
  const plain = commandText(work)
  if (cwd === undefined && env === undefined && stdin === undefined && umask === undefined) {
    return plain
  }
  const variables = Object.entries(env ?? {}).map(
    ([name, value]) => `${name}=${shellQuoted(value)}`,
  )
  return [
    ...(cwd === undefined ? [] : [`cd ${shellQuoted(cwd)} &&`]),
    ...(umask === undefined ? [] : [`umask ${umask} &&`]),
    ...(stdin === undefined ? [] : [`printf %s ${shellQuoted(stdin)} |`]),
    ...(variables.length === 0 ? [] : ['env', ...variables]),
    work.executor === 'argv' ? plain : `${DEFAULT_SHELL} -c ${shellQuoted(plain)}`,
  ].join(' ')
}

function commandText(work: ProcessWork): string {
  switch (work.executor) {
    case 'shell':
      if ((work.shell ?? DEFAULT_SHELL) === DEFAULT_SHELL) return work.run
      return `${shellQuoted(work.shell!)} -c ${shellQuoted(work.run)}`
    case 'argv':
      return words(work.argv)
    case 'script': {
      // In a file of its own, so that the script can still read its standard input.
      const script = `f=$(mktemp) && printf %s ${shellQuoted(work.script)} > "$f" || exit 1`
      return `${script}; ${words(work.interpreter)} "$f"; s=$?; rm -f "$f"; exit $s`
    }
  }
}

function words(argv: readonly string[]): string {
  return argv.map(shellQuoted).join(' ')
}

const HARMLESS = /^[A-Za-z0-9_@%+=:,./-]+$/

export function shellQuoted(text: string): string {
  return HARMLESS.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`
}

const COMMAND = 'cmd:'
const ECHO = 'cat'

/** The work of a payload: a command after `cmd:`; any other payload is passed on unchanged. */
export function workOfPayload(
  payload: string,
): Pick<JobDefinition, 'run' | 'script' | 'interpreter' | 'argv' | 'stdin'> {
  if (!payload.startsWith(COMMAND)) return { argv: [ECHO], stdin: payload }
  const text = payload.slice(COMMAND.length)
  const [, interpreter] = /^\s*#!\s*(.+)/.exec(text) ?? []
  // A named interpreter is used as given.
  if (interpreter === undefined) return { run: text }
  return { script: text.trimStart(), interpreter: interpreter.trim().split(/\s+/) }
}

/** The payload again; for a job defined otherwise, an equivalent one. */
export function payloadOf({ argv, stdin, script }: JobDefinition, command: string | null): string {
  if (argv?.length === 1 && argv[0] === ECHO && stdin !== undefined) return stdin
  if (script?.startsWith('#!')) return COMMAND + script
  return COMMAND + (command ?? '')
}
