import type { CommandInput, EndedCommand } from './shell-hazards.ts'
import { createWordFacts, OpenWord } from './shell-words.ts'

/** Follows the words of one shell command and decides why a value must not be placed among them. */
export interface ShellCommand {
  /** Adds text to the current word, or starts a new word; `isBare` if the text is unquoted. */
  take(text: string, isBare: boolean): void
  /** A part that the shell replaces when the command runs: a variable or a command substitution. */
  expand(): void
  endWord(): void
  /** The next word is the target of a redirection or the text of a here-string. */
  redirect(kind: Redirection): void
  /** A here-document follows; the shell expands it unless it is raw. */
  document(isRaw: boolean): void
  /** The next word is a pattern of a `case`. */
  pattern(): void
  /** An expression is placed here, or in a nested part of the current word. */
  value(): void
  /** The command ended and another one begins. Returns why a value in the ended command was unsafe. */
  end(isPipe: boolean): string | undefined
  /** The position continues a word, without a space in between. */
  readonly isInWord: boolean
  /** The text before this position begins an assignment, `a=`. */
  readonly isAssigning: boolean
  /** Inside a `[[` that has not ended, where brackets and operators have another meaning. */
  readonly isTest: boolean
  /** Why an expression must not be placed here. */
  readonly risk: string | undefined
  /** Some word of the command is a shell, or makes the current shell read a program elsewhere. */
  readonly readsPrograms: boolean
  readonly name: string | undefined
  /** The next word is, or continues, the name of the command. */
  readonly isAtName: boolean
  /** The command, or its piped input, contains a value. */
  readonly hasValue: boolean
}

export type Redirection = 'in' | 'out' | 'text'

const VALUE = '\0'

const CALCULATES = 'is where a shell evaluates arithmetic, including commands in the value'
const READS = 'is where a shell reads it as a program'
const NAMES = 'is where a shell reads it as a variable name and evaluates it'

const SPLIT =
  'is in [[ ]] after an operator or a line break, where a shell without [[ starts another command'
const READERS = new Set('eval . source trap alias bind complete compgen fc'.split(' '))
const NAMERS = new Set('read unset mapfile readarray getopts wait'.split(' '))
const DECLARERS = new Set('declare typeset local export readonly integer float'.split(' '))
/** Words that only shells other than `sh`, `dash` and `bash` evaluate as arithmetic. */
const CALCULATORS = new Set('printf print exit return shift break continue'.split(' '))
/** Variables that a shell executes as a program, or evaluates as arithmetic when they are set. */
const SPECIAL_NAME =
  /^(?:PS\d|PROMPT_COMMAND|BASH_ENV|ENV|RANDOM|SRANDOM|SECONDS|LINENO|OPTIND|HISTCMD|BASHPID|EPOCHSECONDS)$/
/** Maximum number of words that are checked as variable names. */
const MAX_NAMES = 64
/** Commands that set the variables named in their arguments. */
const SETTERS = new Set(['for', 'select', 'read', 'printf', 'mapfile', 'readarray'])

const NO_WORD = new OpenWord(0)

function setsSpecial(head: string): boolean {
  const [name = ''] = /^\w+(?=\+?=)/.exec(head) ?? []
  return SPECIAL_NAME.test(name)
}

/** State that the commands of one text share. */
export interface ShellReading {
  /** A variable was declared as an integer; this lasts for the rest of the text. */
  hasNumbers: boolean
  /** The number of characters read so far. */
  at: number
  /** `at` is the position of the command's name. */
  onCommand(command: EndedCommand, at: number): void
}

/** `isList` if the words belong to an array, `a=( … )`, in which no word names a command. */
export function createShellCommand(
  shell: string,
  typed: ShellReading,
  isList = false,
): ShellCommand {
  return new CommandTracker(shell, typed, isList)
}

class CommandTracker implements ShellCommand {
  readonly #typed: ShellReading
  readonly #isList: boolean
  readonly #knowsTests: boolean
  readonly #calculatesMore: boolean
  /** The completed words and the facts about them. */
  #words = createWordFacts()
  /** For each word, its position and whether the shell replaces a part of it. */
  #marks: { readonly at: number; readonly isLive: boolean }[] = []
  #word: OpenWord | undefined
  #isLive = false
  #openBrackets = 0
  #target: Redirection | undefined
  #input: CommandInput = 'inherited'
  #isPattern = false
  #hasValue = false
  /** In `[[ … ]]`, the index of the word where a shell without `[[` starts another command: after an operator. */
  #splitAt: number | undefined
  #isFed = false

  constructor(shell: string, typed: ShellReading, isList: boolean) {
    this.#typed = typed
    this.#isList = isList
    this.#knowsTests = /(?:bash|ksh|zsh)$/.test(shell)
    this.#calculatesMore = /(?:ksh|zsh)$/.test(shell)
  }

  take(text: string, isBare: boolean): void {
    this.#grow(text)
    if (isBare && text === '[') this.#openBrackets++
    if (isBare && text === ']' && this.#openBrackets > 0) this.#openBrackets--
  }

  expand(): void {
    this.#grow('$')
    this.#isLive = true
  }

  redirect(kind: Redirection): void {
    if (this.#word !== undefined && /^\d+$/.test(this.#word.text)) this.#word = undefined
    this.endWord()
    if (this.#isOpenTest()) return
    this.#target = kind
  }

  document(isRaw: boolean): void {
    this.#input = isRaw ? 'constant' : 'live'
  }

  pattern(): void {
    this.#isPattern = true
  }

  value(): void {
    this.#hasValue = true
    this.#grow(VALUE)
  }

  end(isPipe: boolean): string | undefined {
    this.endWord()
    this.#target = undefined
    const { name, all } = this.#words
    let why: string | undefined
    if (
      name !== undefined &&
      this.#hasValue &&
      this.#isTestName(name) &&
      this.#words.hasNumericTest
    )
      why = CALCULATES
    if (this.#isOpenTest()) {
      this.#splitAt = all.length
      return why
    }
    const at = this.#words.shellAt
    if (
      this.#isFed &&
      this.#words.isShellCommand &&
      all.slice(at + 1).every((one) => /^[-+][^c]*$/.test(one))
    )
      why = READS
    this.#isFed = isPipe && all.length > 0 && (this.#hasValue || this.#isFed)
    this.#report()
    this.#isPattern &&= isPipe || all.length === 0
    this.#start()
    return why
  }

  get isInWord(): boolean {
    return this.#word !== undefined
  }

  get isAssigning(): boolean {
    return this.#word?.isAssignment === true && this.#word.text.endsWith('=')
  }

  get isTest(): boolean {
    return this.#isOpenTest()
  }

  get risk(): string | undefined {
    const { name } = this.#words
    const current = this.#word ?? NO_WORD
    if (this.#openBrackets > 0) return CALCULATES
    if (this.#splitAt !== undefined && !this.#knowsTests && this.#isOpenTest()) {
      // A word that begins with a dash is not a command name.
      if (!(this.#words.all[this.#splitAt] ?? current.head).startsWith('-')) return SPLIT
    }
    if (this.#isList) return undefined
    const isFile = this.#target === 'in' || this.#target === 'out'
    if (name === undefined || isFile) {
      if (!isFile && setsSpecial(current.head)) return READS
      if (this.#typed.hasNumbers && current.isAssignment) return CALCULATES
      return undefined
    }
    const why = SETTERS.has(name) ? this.#set(name) : undefined
    if (this.#target === 'text') return this.readsPrograms ? READS : why
    if (why !== undefined) return why
    if (name.startsWith(VALUE)) return 'follows a command whose name is a value itself'
    if (name === 'let' || (this.#calculatesMore && CALCULATORS.has(name))) return CALCULATES
    if (READERS.has(name) || this.#words.endsWithProgramOption) return READS
    if (NAMERS.has(name)) return NAMES
    if (DECLARERS.has(name)) return this.#declared(name, current)
    if (name === 'printf') {
      const isFirst = this.#words.lastArgument === undefined && /^(?:-.*)?$/.test(current.text)
      const isName = this.#words.lastArgument === '-v' || isFirst
      return isName ? NAMES : undefined
    }
    return this.#tested(name, current)
  }

  get readsPrograms(): boolean {
    return this.#words.shellAt >= 0 || READERS.has(this.#words.name ?? '')
  }

  get hasValue(): boolean {
    return this.#hasValue || this.#isFed
  }

  get name(): string | undefined {
    return this.#words.name
  }

  get isAtName(): boolean {
    const isOther =
      this.#isList || this.#isPattern || this.#target !== undefined || this.#openBrackets > 0
    if (isOther || this.#words.name !== undefined) return false
    return this.#word === undefined || (!this.#word.isAssignment && !this.#word.isElement)
  }

  endWord(): void {
    if (this.#word === undefined) return
    const ended = this.#word.text
    const kind = this.#target
    const mark = { at: this.#word.at, isLive: this.#isLive }
    if (kind === 'in' || kind === 'text') this.#input = this.#inputOf(kind, ended)
    this.#word = undefined
    this.#target = undefined
    this.#isLive = false
    this.#openBrackets = 0
    if (kind !== undefined) return
    this.#words.add(ended)
    this.#marks.push(mark)
    const { name } = this.#words
    if (name !== undefined && DECLARERS.has(name)) {
      if (this.#words.hasTypeOption || name === 'integer' || name === 'float')
        this.#typed.hasNumbers = true
    }
    if (ended === 'in' && name === 'case') this.#isPattern = true
    if (ended === '{' || (ended === 'in' && name === 'case')) this.#start()
  }

  #grow(text: string): void {
    this.#word ??= new OpenWord(this.#typed.at)
    this.#word.add(text)
  }

  #isTestName(name: string): boolean {
    return name === '[[' || (this.#calculatesMore && /^(?:\[|test)$/.test(name))
  }

  /** Why the variables that a command sets must not receive a value. */
  #set(name: string): string | undefined {
    // The words after the checked names include the value that the variables are set to.
    const first = this.#words.all.slice(this.#words.nameAt + 1, this.#words.nameAt + MAX_NAMES)
    if (name === 'printf' && !first.includes('-v')) return undefined
    if (first.includes('-C') && /^(?:mapfile|readarray)$/.test(name)) return READS
    if (first.some((one) => SPECIAL_NAME.test(one))) return READS
    return this.#typed.hasNumbers ? CALCULATES : undefined
  }

  #declared(name: string, current: OpenWord): string | undefined {
    if (!current.isAssignment) return NAMES
    if (setsSpecial(current.head)) return READS
    return !this.#words.hasOddOption &&
      !this.#typed.hasNumbers &&
      name !== 'integer' &&
      name !== 'float'
      ? undefined
      : CALCULATES
  }

  #tested(name: string, current: OpenWord): string | undefined {
    if (name !== '[' && name !== 'test' && name !== '[[') return undefined
    const last = this.#words.lastArgument ?? ''
    // A value before another value could be the operator that makes the other one a variable name.
    if (/^-[vR]$/.test(last) || (name !== '[[' && last.startsWith(VALUE) && current.text === ''))
      return NAMES
    return this.#isTestName(name) && this.#words.hasNumericTest ? CALCULATES : undefined
  }

  #isOpenTest(): boolean {
    return this.#words.name === '[[' && !this.#words.hasTestEnd
  }

  #start(): void {
    this.#words = createWordFacts()
    this.#marks = []
    this.#input = 'inherited'
    this.#hasValue = false
    this.#splitAt = undefined
  }

  #report(): void {
    const from = this.#words.nameAt
    if (from >= this.#words.all.length || this.#isPattern || this.#isList) return
    const named = this.#words.all.slice(from).map((text, nth) => {
      const holdsValue = text.includes(VALUE)
      return { text, hasValue: holdsValue, isLive: holdsValue || this.#marks[from + nth]!.isLive }
    })
    this.#typed.onCommand({ words: named, input: this.#input }, this.#marks[from]!.at)
  }

  /** A file descriptor or a device refers to input that the command does not show. */
  #inputOf(kind: Redirection, text: string): CommandInput {
    if (this.#isLive || text.includes(VALUE)) return 'live'
    return kind === 'in' && /^(?:\d*|-|\/(?:dev|proc)\/.*)$/.test(text) ? 'live' : 'constant'
  }
}
