import type { JobDefinition } from '../../core/job/job-definition.ts'
import { DEFAULT_SHELL, isProcessWork, type ProcessWork, type Work } from '../../core/work/work.ts'

/**
 * Work as one text for a shell, for workers that know nothing else: whatever surrounds it is said in
 * that text too. `null` for what no shell can do for them.
 */
export function shellText(work: Work | null): string | null {
  if (work === null || !isProcessWork(work)) return null
  // A limit is kept or the command is not started, and only workers of our own can keep one.
  if (work.limits !== undefined || work.run_as !== undefined) return null
  const { cwd, env, stdin, umask } = work
  const plain = commandText(work)
  if (cwd === undefined && env === undefined && stdin === undefined && umask === undefined) {
    return plain
  }
  const variables = Object.entries(env ?? {}).map(([name, value]) => `${name}=${quoted(value)}`)
  return [
    ...(cwd === undefined ? [] : [`cd ${quoted(cwd)} &&`]),
    ...(umask === undefined ? [] : [`umask ${umask} &&`]),
    ...(stdin === undefined ? [] : [`printf %s ${quoted(stdin)} |`]),
    ...(variables.length === 0 ? [] : ['env', ...variables]),
    work.executor === 'argv' ? plain : `${DEFAULT_SHELL} -c ${quoted(plain)}`,
  ].join(' ')
}

function commandText(work: ProcessWork): string {
  switch (work.executor) {
    case 'shell':
      if ((work.shell ?? DEFAULT_SHELL) === DEFAULT_SHELL) return work.run
      return `${quoted(work.shell!)} -c ${quoted(work.run)}`
    case 'argv':
      return words(work.argv)
    case 'script': {
      // In a file of its own, so that the script can still read its input.
      const script = `f=$(mktemp) && printf %s ${quoted(work.script)} > "$f" || exit 1`
      return `${script}; ${words(work.interpreter)} "$f"; s=$?; rm -f "$f"; exit $s`
    }
  }
}

function words(argv: readonly string[]): string {
  return argv.map(quoted).join(' ')
}

const HARMLESS = /^[A-Za-z0-9_@%+=:,./-]+$/

export function quoted(text: string): string {
  return HARMLESS.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`
}

const COMMAND = 'cmd:'
const ECHO = 'cat'

/** What a payload asks for: a command after `cmd:`, and of anything else to be handed on as it is. */
export function workOfPayload(
  payload: string,
): Pick<JobDefinition, 'run' | 'script' | 'interpreter' | 'argv' | 'stdin'> {
  if (!payload.startsWith(COMMAND)) return { argv: [ECHO], stdin: payload }
  const text = payload.slice(COMMAND.length)
  const [, interpreter] = /^\s*#!\s*(.+)/.exec(text) ?? []
  // Who says what reads a script means it.
  if (interpreter === undefined) return { run: text }
  return { script: text.trimStart(), interpreter: interpreter.trim().split(/\s+/) }
}

/** The payload again; of a job that was defined otherwise, the one that would do the same. */
export function payloadOf({ argv, stdin, script }: JobDefinition, command: string | null): string {
  if (argv?.length === 1 && argv[0] === ECHO && stdin !== undefined) return stdin
  if (script?.startsWith('#!')) return COMMAND + script
  return COMMAND + (command ?? '')
}
