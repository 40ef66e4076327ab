import { isShell } from './shell-names.ts'

/** The words of one command of a shell, as they come, and why a value may not stand among them. */
export interface ShellCommand {
  /** More of the word there is, or of a new one; `isBare` if it stands in no quotes. */
  take(text: string, isBare: boolean): void
  endWord(): void
  /** What comes next is where to read from or write to. */
  redirect(isHereString: boolean): void
  /** An expression stands here, or in something that is part of the word here. */
  value(): void
  /** The command has ended, and another begins. Says why a value in it should not have been there. */
  end(isPipe: boolean): string | undefined
  /** A word stands before, without a space between. */
  readonly isInWord: boolean
  /** What stands before is the beginning of an assignment, `a=`. */
  readonly isAssigning: boolean
  /** It is a `[[` that has not ended, in which brackets and operators mean something else. */
  readonly isTest: boolean
  /** Why an expression must not stand here. */
  readonly risk: string | undefined
  /** Some word of it is a shell, or asks this one to read on elsewhere. */
  readonly readsPrograms: boolean
  readonly name: string | undefined
  /** A value stands in it, or in what is piped into it. */
  readonly hasValue: boolean
}

const VALUE = '\0'

const CALCULATES = 'stands where a shell would calculate with whatever is in it, commands included'
const READS = 'stands where a shell would read it as a program'
const NAMES = 'stands where a shell would take it for the name of a variable, and calculate with it'

/** Words that may stand before the name of a command. */
const BEFORE = new Set(
  'if then else elif while until do ! { } time coproc command builtin exec noglob nocorrect'.split(
    ' ',
  ),
)
const READERS = new Set('eval . source trap alias bind complete compgen fc'.split(' '))
const NAMERS = new Set('read unset mapfile readarray getopts wait'.split(' '))
const DECLARERS = new Set('declare typeset local export readonly integer float'.split(' '))
/** What only some shells calculate with: those that are not `sh`, `dash` or `bash`. */
const CALCULATORS = new Set('printf print exit return shift break continue'.split(' '))
const NUMERIC = /^-(?:eq|ne|lt|le|gt|ge)$/
const ASSIGNMENT = /^[A-Za-z_]\w*\+?=/
/** Variables that a shell reads as a program, or calculates with when they are set. */
const SPECIAL =
  /^(?:PS\d|PROMPT_COMMAND|BASH_ENV|ENV|RANDOM|SRANDOM|SECONDS|LINENO|OPTIND|HISTCMD|BASHPID|EPOCHSECONDS)\+?=/

/** What a shell was told of its variables: one that was declared a number stays one. */
export interface Declared {
  hasNumbers: boolean
}

/** `isList` if the words are those of a list, `a=( … )`, of which none names a command. */
export function createShellCommand(shell: string, typed: Declared, isList = false): ShellCommand {
  const calculatesMore = /(?:ksh|zsh)$/.test(shell)
  let words: string[] = []
  let word: string | undefined
  let openBrackets = 0
  let target: 'file' | 'text' | undefined
  let hasValue = false
  let isFed = false

  /** Where the name of the command stands. */
  const nameAt = () => {
    let at = 0
    let mayBeOption = false
    for (; at < words.length; at++) {
      const one = words[at] as string
      if (mayBeOption && one.startsWith('-')) continue
      mayBeOption = one === 'command' || one === 'builtin' || one === 'exec' || one === 'time'
      if (!BEFORE.has(one) && !ASSIGNMENT.test(one)) break
    }
    return at
  }
  const nameOf = () => words[nameAt()]
  const given = () => words.slice(nameAt() + 1)

  const isTest = (name: string) => name === '[[' || (calculatesMore && /^(?:\[|test)$/.test(name))
  const shellAt = () => words.findIndex((one) => isShell(one) || /^(?:su|runuser)$/.test(one))

  /** The argument of a shell that is its program: what follows `-c`, and options behind that. */
  const isProgram = () => {
    const at = shellAt()
    const option = words.findLastIndex((one) => /^-\w*c/.test(one))
    return at >= 0 && option > at && words.slice(option).every((one) => /^[-+]/.test(one))
  }

  const riskOf = (): string | undefined => {
    const name = nameOf()
    const current = word ?? ''
    if (openBrackets > 0) return CALCULATES
    if (isList) return undefined
    if (name === undefined || target === 'file') {
      if (target !== 'file' && SPECIAL.test(current)) return READS
      if (typed.hasNumbers && ASSIGNMENT.test(current)) return CALCULATES
      return undefined
    }
    if (target === 'text') return readsPrograms() ? READS : undefined
    if (name.startsWith(VALUE)) return 'stands behind a command whose name is a value itself'
    if (name === 'let' || (calculatesMore && CALCULATORS.has(name))) return CALCULATES
    if (READERS.has(name) || isProgram()) return READS
    if (NAMERS.has(name)) return NAMES
    if (DECLARERS.has(name)) return declared(name, current)
    if (name === 'printf') {
      const isName = given().at(-1) === '-v' || (given().length === 0 && /^(?:-.*)?$/.test(current))
      return isName ? NAMES : undefined
    }
    return tested(name, current)
  }

  const declared = (name: string, current: string) => {
    if (!ASSIGNMENT.test(current)) return NAMES
    if (SPECIAL.test(current)) return READS
    const isPlain = given().every((one) => !/^[-+]/.test(one) || /^[-+][xrgp]+$/.test(one))
    return isPlain && !typed.hasNumbers && name !== 'integer' && name !== 'float'
      ? undefined
      : CALCULATES
  }

  const tested = (name: string, current: string) => {
    if (name !== '[' && name !== 'test' && name !== '[[') return undefined
    const last = given().at(-1) ?? ''
    // A value before another one could be the operator that makes a name of it.
    if (/^-[vR]$/.test(last) || (name !== '[[' && last.startsWith(VALUE) && current === ''))
      return NAMES
    return isTest(name) && given().some((one) => NUMERIC.test(one)) ? CALCULATES : undefined
  }

  const isOpenTest = () => nameOf() === '[[' && !words.includes(']]')

  const readsPrograms = () => {
    return shellAt() >= 0 || READERS.has(nameOf() ?? '')
  }

  const start = () => {
    words = []
    hasValue = false
  }

  const endWord = () => {
    const ended = word
    word = undefined
    openBrackets = 0
    if (ended === undefined) return
    const wasTarget = target !== undefined
    target = undefined
    if (wasTarget) return
    words.push(ended)
    const name = nameOf()
    if (name !== undefined && DECLARERS.has(name)) {
      const isTyped = given().some((one) => /^[-+][A-Za-z]*[inEF]/.test(one))
      if (isTyped || name === 'integer' || name === 'float') typed.hasNumbers = true
    }
    if (ended === '{' || (ended === 'in' && name === 'case')) start()
  }

  return {
    take(text, isBare) {
      word = (word ?? '') + text
      if (isBare && text === '[') openBrackets++
      if (isBare && text === ']' && openBrackets > 0) openBrackets--
    },
    endWord,
    redirect(isHereString) {
      if (word !== undefined && /^\d+$/.test(word)) word = undefined
      endWord()
      if (isOpenTest()) return
      target = isHereString ? 'text' : 'file'
    },
    value() {
      hasValue = true
      word = (word ?? '') + VALUE
    },
    end(isPipe) {
      endWord()
      target = undefined
      const name = nameOf()
      let why: string | undefined
      if (
        name !== undefined &&
        hasValue &&
        isTest(name) &&
        given().some((one) => NUMERIC.test(one))
      )
        why = CALCULATES
      if (isOpenTest()) return why
      const at = shellAt()
      if (isFed && at >= 0 && words.slice(at + 1).every((one) => /^[-+][^c]*$/.test(one)))
        why = READS
      isFed = isPipe && words.length > 0 && (hasValue || isFed)
      start()
      return why
    },
    get isInWord() {
      return word !== undefined
    },
    get isAssigning() {
      return ASSIGNMENT.test(word ?? '') && word?.endsWith('=') === true
    },
    get isTest() {
      return isOpenTest()
    },
    get risk() {
      return riskOf()
    },
    get readsPrograms() {
      return readsPrograms()
    },
    get hasValue() {
      return hasValue || isFed
    },
    get name() {
      return nameOf()
    },
  }
}
