import { runsItsArguments } from './shell-hazards.ts'
import { isShell } from './shell-names.ts'

/** Words that may precede the name of a command. */
const BEFORE = new Set(
  'if then else elif while until do ! { } time coproc command builtin exec noglob nocorrect'.split(
    ' ',
  ),
)
const NUMERIC = /^-(?:eq|ne|lt|le|gt|ge)$/
const ASSIGNMENT = /^[A-Za-z_]\w*\+?=/
const ELEMENT = /^[A-Za-z_]\w*\[[^\]]*\]\+?=/
const LOGIN = /^(?:su|runuser)$/

/**
 * The completed words of a command. Each word is examined once, when it is added: examining all words for each value
 * would take seconds for a text with thousands of words and values.
 */
export interface WordFacts {
  readonly all: readonly string[]
  /** Index of the command's name; the number of words if there is none yet. */
  readonly nameAt: number
  readonly name: string | undefined
  /** The last word after the name. */
  readonly lastArgument: string | undefined
  /** Index of the first word that is a shell, or -1. */
  readonly shellAt: number
  /** The command is a shell, or a program that runs one. */
  readonly isShellCommand: boolean
  /** The next word is the program of a shell: the words end with `-c`, possibly with options after it. */
  readonly endsWithProgramOption: boolean
  /** An argument is a declaration option other than those that only export or protect a variable. */
  readonly hasOddOption: boolean
  /** An argument is an option that declares an integer or a reference. */
  readonly hasTypeOption: boolean
  /** An argument compares integers. */
  readonly hasNumericTest: boolean
  /** A word is `]]`. */
  readonly hasTestEnd: boolean
  add(word: string): void
}

export function createWordFacts(): WordFacts {
  return new Words()
}

class Words implements WordFacts {
  readonly all: string[] = []
  nameAt = 0
  shellAt = -1
  hasOddOption = false
  hasTypeOption = false
  hasNumericTest = false
  hasTestEnd = false
  /** The previous word accepts options: it is `command` or similar. */
  #mayBeOption = false
  #programOptionAt = -1
  #lastOperandAt = -1
  /** The shell was given a script file: the words after it are arguments of that script. */
  #hasScript = false

  get name() {
    return this.all[this.nameAt]
  }

  get lastArgument() {
    const last = this.all.length - 1
    return last > this.nameAt ? this.all[last] : undefined
  }

  get isShellCommand() {
    const { shellAt, nameAt } = this
    if (shellAt < 0) return false
    return shellAt === nameAt || runsItsArguments(this.all[nameAt] as string)
  }

  get endsWithProgramOption() {
    const option = this.#programOptionAt
    if (this.#hasScript) return false
    return this.shellAt >= 0 && option > this.shellAt && this.#lastOperandAt < option
  }

  add(word: string): void {
    const at = this.all.length
    this.all.push(word)
    if (this.shellAt < 0 && (isShell(word) || LOGIN.test(word))) this.shellAt = at
    if (word === ']]') this.hasTestEnd = true
    const isOption = word.startsWith('-') || word.startsWith('+')
    if (!isOption) this.#noteOperand(at)
    else if (/^-\w*c/.test(word)) this.#programOptionAt = at
    if (this.nameAt < at) {
      if (isOption) this.#noteOption(word)
    } else if (this.#standsBeforeName(word)) this.nameAt = at + 1
  }

  #noteOperand(at: number): void {
    this.#lastOperandAt = at
    const { shellAt, all } = this
    if (shellAt < 0 || at === shellAt || LOGIN.test(all[shellAt] as string)) return
    const isOfOption = /^(?:[-+][A-Za-z]*[oO]|--(?:rcfile|init-file))$/.test(all[at - 1] as string)
    if (!isOfOption && this.#programOptionAt < shellAt) this.#hasScript = true
  }

  #noteOption(word: string): void {
    if (!/^[-+][xrgp]+$/.test(word)) this.hasOddOption = true
    if (/^[-+][A-Za-z]*[inEF]/.test(word)) this.hasTypeOption = true
    if (NUMERIC.test(word)) this.hasNumericTest = true
  }

  #standsBeforeName(word: string): boolean {
    if (this.#mayBeOption && word.startsWith('-')) return true
    this.#mayBeOption =
      word === 'command' || word === 'builtin' || word === 'exec' || word === 'time'
    return BEFORE.has(word) || ASSIGNMENT.test(word) || ELEMENT.test(word)
  }
}

/** Number of characters kept of each word: longer than any name that is checked. */
const HEAD_LENGTH = 32

/** A word that has not ended. Its beginning is examined once, however long the word grows. */
export class OpenWord {
  readonly at: number
  text = ''
  /** The first characters of the word. */
  head = ''
  /** Position in a possible assignment: in the name, in an index, after either; or not an assignment, or complete. */
  #state: 'start' | 'name' | 'index' | 'closed' | 'plus' | 'none' | 'assignment' = 'start'
  #hasIndex = false

  constructor(at: number) {
    this.at = at
  }

  /** The word begins with `name=` or `name+=`. */
  get isAssignment(): boolean {
    return this.#state === 'assignment' && !this.#hasIndex
  }

  /** The word begins with `name[index]=` or `name[index]+=`. */
  get isElement(): boolean {
    return this.#state === 'assignment' && this.#hasIndex
  }

  add(text: string): void {
    this.text += text
    if (this.head.length < HEAD_LENGTH) this.head += text.slice(0, HEAD_LENGTH)
    for (let at = 0; at < text.length && !this.#isDecided; at += 1) this.#read(text[at] as string)
  }

  get #isDecided(): boolean {
    return this.#state === 'none' || this.#state === 'assignment'
  }

  #read(character: string): void {
    switch (this.#state) {
      case 'start':
        this.#state = /[A-Za-z_]/.test(character) ? 'name' : 'none'
        return
      case 'index':
        if (character === ']') this.#state = 'closed'
        return
      case 'name':
        if (/\w/.test(character)) return
        if (character === '[') {
          this.#state = 'index'
          this.#hasIndex = true
          return
        }
        break
      case 'closed':
        break
      default:
        this.#state = character === '=' ? 'assignment' : 'none'
        return
    }
    this.#state = character === '=' ? 'assignment' : character === '+' ? 'plus' : 'none'
  }
}
