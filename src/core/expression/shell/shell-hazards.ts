import { programArgument } from './program-argument.ts'
import { isShell } from './shell-names.ts'

/** A word of a command as far as it is known before the command runs. */
export interface ShellWord {
  readonly text: string
  /** The shell replaces a part of it at run time: a variable, a command substitution or a value. */
  readonly isLive: boolean
  /** The word contains an expression. */
  readonly hasValue: boolean
}

/** Where a command reads its input from: inherited, constant, or produced at run time. */
export type CommandInput = 'inherited' | 'constant' | 'live'

export interface EndedCommand {
  /** All words from the command's name on. */
  readonly words: readonly ShellWord[]
  readonly input: CommandInput
}

/**
 * Why a value in the same text may reach a program that executes it; undefined if there is no sign of it. The check
 * looks at one command at a time and follows no data, so it has false positives and false negatives: it only produces
 * warnings and guarantees nothing.
 */
export function hazardOf({ words, input }: EndedCommand): string | undefined {
  const [first, ...rest] = words
  if (!first) return undefined
  const name = baseName(first.text)
  if (first.isLive) {
    if (input !== 'constant' && rest.every(isOption)) {
      return 'runs a program whose name is in a variable, on its input'
    }
    const isCarriedOut = rest.some(
      ({ hasValue }, nth) => hasValue && (nth === 0 || /^-\w*[ce]$/.test(rest[nth - 1]!.text)),
    )
    return isCarriedOut ? 'passes the value to a program whose name is in a variable' : undefined
  }
  if (name === 'eval') return 'reads its arguments as a program'
  if (name === '.' || name === 'source') return sourced(rest)
  if (name === 'trap' && rest[0]?.isLive) return 'reads its first argument as a program'
  if (name === 'xargs' || name === 'parallel') return 'runs its input as commands'
  const given = argumentHazard(name, rest)
  if (given !== undefined) return given
  const at = interpreterAt(name, words)
  return at < 0 ? undefined : interpreted(words, at, input)
}

/** Programs other than shells that read a program from their input or from an argument. */
const INTERPRETERS =
  /^(?:csh|tcsh|fish|pwsh|python[\d.]*|pypy\d?|node|nodejs|deno|bun|perl|ruby|irb|php|lua[\d.]*|tclsh|expect|Rscript|R|julia|osascript|psql|mysql|mariadb|sqlite3|ed|ex|vim?|at|batch)$/

/** Programs that run the command in their arguments, with the number of operands before that command. */
const WRAPPERS = new Map(
  Object.entries({
    env: 0,
    sudo: 0,
    doas: 0,
    nohup: 0,
    setsid: 0,
    nice: 0,
    ionice: 0,
    stdbuf: 0,
    time: 0,
    timeout: 1,
    chroot: 1,
    flock: 1,
    strace: 0,
    watch: 0,
    busybox: 0,
    script: 0,
    unshare: 0,
    nsenter: 0,
    su: 0,
    runuser: 0,
    find: 0,
    docker: 0,
    podman: 0,
    kubectl: 0,
    ssh: 1,
    tini: 0,
    'dumb-init': 0,
    catatonit: 0,
    gosu: 1,
    'su-exec': 1,
    setpriv: 0,
    taskset: 1,
    chrt: 1,
    prlimit: 0,
    fakeroot: 0,
    'xvfb-run': 0,
    'systemd-run': 0,
    'systemd-inhibit': 0,
  }),
)

/** Whether the arguments of a program are a command that it runs. */
export function runsItsArguments(name: string): boolean {
  return WRAPPERS.has(baseName(name))
}

/** Programs that are known to pass their environment to the command they run. */
const PASSES_VARIABLES: ReadonlySet<string> = new Set([
  'env',
  'nohup',
  'setsid',
  'nice',
  'ionice',
  'stdbuf',
  'time',
  'timeout',
  'chroot',
  'flock',
  'strace',
  'busybox',
  'unshare',
  'find',
  'xargs',
  'tini',
  'dumb-init',
  'catatonit',
  'gosu',
  'su-exec',
  'setpriv',
  'taskset',
  'chrt',
  'prlimit',
  'fakeroot',
  'xvfb-run',
])

/** Programs that may treat any argument as a command, or pass it to another shell. */
const READ_ARGUMENTS = /^(?:ssh|make|gmake|watch|tmux|screen|sqlite3|at|batch|expect)$/

function argumentHazard(name: string, rest: readonly ShellWord[]): string | undefined {
  if (READ_ARGUMENTS.test(name) && rest.some(({ hasValue }) => hasValue)) {
    return 'may execute its arguments'
  }
  if (/^(?:sed|g?awk|mawk|nawk)$/.test(name) && isInProgram(rest)) {
    return 'reads the argument with the value as a program'
  }
  const operands = WRAPPERS.get(name)
  if (operands === undefined) return undefined
  const command = rest.filter((word, nth) => !isOption(word) && !isOption(rest[nth - 1]))[operands]
  const isProgram = command?.hasValue && !/^[A-Za-z_]\w*=/.test(command.text)
  return isProgram ? 'uses the value as the name of a program' : undefined
}

/** Whether a value is in the program of `sed` or `awk`: the argument of `-e`, or else the first operand. */
function isInProgram(rest: readonly ShellWord[]): boolean {
  for (let nth = 0; nth < rest.length; nth += 1) {
    const { text, hasValue } = rest[nth] as ShellWord
    if (/^(?:-[nErsu]*e|--expression)$/.test(text)) return rest[nth + 1]?.hasValue === true
    if (/^-[vFf]$/.test(text)) nth += 1
    else if (!text.startsWith('-')) return hasValue
  }
  return false
}

function sourced(rest: readonly ShellWord[]): string | undefined {
  const [file] = rest
  const isOpen = file === undefined || file.isLive || isDevice(file)
  return isOpen ? 'reads what it is given as a program' : undefined
}

function interpreterAt(name: string, words: readonly ShellWord[]): number {
  if (isInterpreter(name)) return 0
  if (!WRAPPERS.has(name)) return -1
  return words.findIndex(({ text, isLive }) => !isLive && isInterpreter(baseName(text)))
}

function isInterpreter(name: string): boolean {
  return isShell(name) || INTERPRETERS.test(name)
}

function interpreted(
  words: readonly ShellWord[],
  at: number,
  input: CommandInput,
): string | undefined {
  const rest = words.slice(at + 1)
  const program = programArgument(
    words[at]!.text,
    rest.map(({ text }) => text),
  )
  if (program >= 0) {
    return rest[program]?.isLive ? 'reads an argument that is not constant as a program' : undefined
  }
  const readsInput = rest.some(({ text }) => /^-\w*s$/.test(text)) || rest.every(isOption)
  if (!readsInput && !rest.some(isDevice)) return undefined
  return input === 'constant' ? undefined : 'reads its input as a program'
}

export interface ProgramWord {
  readonly at: number
  readonly interpreter: string
  /** Whether the interpreter receives the variables of this command: only then may its program use one. */
  readonly getsVariables: boolean
}

/** The word of a command that is the program of an interpreter. */
export function programAt(words: readonly string[]): ProgramWord | undefined {
  const [first = ''] = words
  if (isInterpreter(baseName(first))) return programOf(words, 0, true)
  const isKnown = WRAPPERS.has(baseName(first))
  const passes = PASSES_VARIABLES.has(baseName(first))
  for (let at = 1; at < words.length; at += 1) {
    const name = baseName(words[at] as string)
    // In the arguments of an unknown program only a shell is recognised; other words may be anything.
    if (!(isKnown ? isInterpreter(name) : isShell(name))) continue
    const found = programOf(words, at, passes)
    if (found) return found
  }
  return undefined
}

function programOf(
  words: readonly string[],
  at: number,
  getsVariables: boolean,
): ProgramWord | undefined {
  const interpreter = words[at] as string
  const program = programArgument(interpreter, words.slice(at + 1))
  return program < 0 ? undefined : { at: at + 1 + program, interpreter, getsVariables }
}

function isOption(word: ShellWord | undefined): boolean {
  return word !== undefined && /^[-+]/.test(word.text)
}

function isDevice({ text }: ShellWord): boolean {
  return text === '-' || /^\/(?:dev|proc)\//.test(text)
}

function baseName(text: string): string {
  return text.slice(text.lastIndexOf('/') + 1)
}
