import { createShellCommand, type ShellCommand, type ShellReading } from './shell-command.ts'
import type { Frame, HereDocument, ShellPlace } from './shell-frames.ts'
import { CLOSED } from './shell-frames.ts'
import type { EndedCommand } from './shell-hazards.ts'

/** The start of a here-document, with its delimiter. */
const HERE_DOCUMENT_START =
  /<<(-?)[ \t]*(?:'([^'\n]*)'|"([^"\n]*)"|\\?([A-Za-z0-9_.-]+))(?=[\s;&|<>()]|$)/y
/** A parameter expansion with an operator after which a value may follow: a text or a pattern. */
const SHELL_PARAMETER = /\$\{(?:[A-Za-z_]\w*|\d+|[@*?$!-])(?::?[-=+?]|##?|%%?|\/|\^\^?|,,?)/y
const SHELL_VARIABLE = /\$(?:[A-Za-z_]\w*|[0-9@*#?!-])/y
const EMPTY_GROUP = /\([ \t]*\)/y

const NAMES_COMMAND = 'is in the place of a command name, so the value would decide what is run'

/** Tracks the quoting state of POSIX shell text, as far as it decides what a variable would mean at a position. */
export interface ShellQuotes {
  /** Continues with more text. */
  read(text: string): void
  /** Continues with an expression. */
  value(): void
  /** Marks the end of the text. */
  end(): void
  readonly place: ShellPlace
  /** Why a value cannot be placed here, although the shell expands text here. */
  readonly risk: string | undefined
  /** Why the previous value was unsafe, according to the text after it. */
  readonly lateRisk: string | undefined
  /** The next character would be escaped. */
  readonly isEscaped: boolean
  /** Position from which the text can no longer be tracked; undefined while it can. */
  readonly untrackedFrom: number | undefined
}

/** Maximum nesting depth that is tracked. */
const DEPTH = 100
export const UNTRACKED_TEXT =
  'is next to or after text that shells interpret differently, so its meaning is not known'

/** `onCommand` is called for each command that ends; `at` is the number of characters before its name. */
export function createShellQuotes(
  shell: string,
  onCommand: (command: EndedCommand, at: number) => void,
): ShellQuotes {
  return new QuoteTracker(shell, onCommand)
}

class QuoteTracker implements ShellQuotes {
  readonly #shell: string
  readonly #declared: ShellReading
  readonly #bottom: Frame & { command: ShellCommand }
  readonly #frames: Frame[] = []
  /** The commands of the frames that have one, outermost first. */
  readonly #commands: ShellCommand[]
  /** The frames that have a command, except the bottom one. */
  readonly #inside: Frame[] = []
  /** The kinds of enclosing frames in which no value is allowed at any depth. */
  readonly #closed: ShellPlace[] = []
  /** Here-documents that were announced and begin on the next line. */
  readonly #announced: HereDocument[] = []
  readonly #documents: HereDocument[] = []
  #done = 0
  #line = ''
  #previous = '\n'
  #isEscaped = false
  /** A line continuation joins this line to the previous one. */
  #isJoined = false
  /** The delimiter that ends a document may continue here. */
  #isAtWord = false
  #isLost = false
  #untrackedFrom: number | undefined
  /** A command of this line reads programs, and a document of the line may be its program. */
  #readsPrograms = false
  #lateRisk: string | undefined
  #backticks = 0

  constructor(shell: string, onCommand: (command: EndedCommand, at: number) => void) {
    this.#shell = shell
    this.#declared = { hasNumbers: false, at: 0, onCommand }
    const command = createShellCommand(shell, this.#declared)
    this.#bottom = { place: 'bare', end: '', command }
    this.#commands = [command]
  }

  get place(): ShellPlace {
    if (this.#isLost || this.#isAtWord) return 'lost'
    // The output of a command substitution in arithmetic is evaluated as well.
    return this.#closed[0] ?? this.#top().place
  }

  get risk(): string | undefined {
    if (this.#top().place === 'comment') return undefined
    for (const one of this.#commands) {
      const { risk } = one
      if (risk !== undefined) return risk
    }
    const innermost = this.#commands.length - 1
    return this.#commands.some((one, nth) => one.isAtName && (nth === innermost || one.isInWord))
      ? NAMES_COMMAND
      : undefined
  }

  get lateRisk(): string | undefined {
    return this.#lateRisk
  }

  get isEscaped(): boolean {
    return this.#isEscaped
  }

  get untrackedFrom(): number | undefined {
    return this.#untrackedFrom
  }

  read(text: string): void {
    let at = 0
    while (at < text.length && !this.#isLost) {
      const character = text[at] as string
      const from = at
      this.#declared.at = this.#done + at
      at = this.#step(text, at)
      if (at === from) continue
      this.#previous = text[at - 1] as string
      if (character === '\n' && !this.#isJoined) {
        this.#endLine()
        this.#line = ''
      } else this.#line += text.slice(from, at)
    }
    this.#done += text.length
    this.#declared.at = this.#done
  }

  value(): void {
    this.#previous = 'x'
    this.#line += 'x'
    if (this.#top().place === 'comment') return
    this.#commands.forEach((one, nth) => {
      // A document or a group is not part of a word of the enclosing command.
      const within = this.#inside[nth]
      if (within === undefined || (within.end !== '' && !within.isGroup)) one.value()
    })
  }

  end(): void {
    for (const one of this.#commands.toReversed()) this.#lateRisk ??= one.end(false)
  }

  #top(): Frame {
    return this.#frames.at(-1) ?? this.#bottom
  }

  #command(): ShellCommand {
    return this.#commands.at(-1) as ShellCommand
  }

  #stopTracking(at: number): number {
    this.#isLost = true
    this.#untrackedFrom ??= this.#declared.at
    // The commands with a value can no longer be checked to their ends.
    if (this.#commands.some(({ hasValue }) => hasValue)) this.#lateRisk ??= UNTRACKED_TEXT
    return at + 1
  }

  #endCommand(isPipe = false): void {
    this.#command().endWord()
    this.#readsPrograms ||= this.#command().readsPrograms
    this.#lateRisk ??= this.#command().end(isPipe)
  }

  #push(frame: Frame, at: number): number {
    this.#frames.push(frame)
    if (frame.command) {
      this.#commands.push(frame.command)
      this.#inside.push(frame)
    }
    if (CLOSED.has(frame.place)) this.#closed.push(frame.place)
    if (frame.end === '`') this.#backticks++
    return this.#frames.length > DEPTH ? this.#stopTracking(at) : at
  }

  #take(): Frame {
    const frame = this.#frames.pop() as Frame
    if (frame.command) {
      this.#commands.pop()
      this.#inside.pop()
    }
    if (CLOSED.has(frame.place)) this.#closed.pop()
    return frame
  }

  #pop(at: number): number {
    if (this.#top().command) this.#endCommand()
    // A document would begin after the command that it belongs to.
    if (this.#top().command && this.#announced.length > 0) this.#stopTracking(at)
    const { isGroup, place, end } = this.#take()
    if (end === '`') this.#backticks--
    if (isGroup) this.#endCommand()
    else if (place !== 'comment') this.#command().take('', false)
    return at
  }

  /** Consumes the character at `at` and returns the next position. */
  #step(text: string, at: number): number {
    const { place, end } = this.#top()
    const character = text[at] as string
    if (this.#isEscaped) {
      this.#isEscaped = false
      this.#isJoined = character === '\n'
      if (!this.#isJoined) this.#command().take(character, false)
      return at + 1
    }
    // Whether `#` begins a comment depends on the joined line before.
    if (this.#isJoined && character === '#') return this.#stopTracking(at)
    this.#isJoined = false
    this.#isAtWord = false
    if (end !== '' && text.startsWith(end, at)) {
      // The line break that ends a comment also ends the line that announced a document.
      return this.#pop(place === 'comment' ? at : at + end.length)
    }
    // A backtick ends the command that began with one, whatever encloses it.
    if (character === '`' && this.#backticks > 0) return this.#stopTracking(at)
    if (place === 'single') {
      this.#command().take(character, false)
      return at + 1
    }
    if (place === 'comment' || place === 'raw-here') return at + 1
    if (character === '\\') {
      if (this.#backticks > 0 || place === 'sum') return this.#stopTracking(at)
      this.#isEscaped = true
      return at + 1
    }
    return this.#opened(text, at, place)
  }

  #inner(isList = false): ShellCommand {
    return createShellCommand(this.#shell, this.#declared, isList)
  }

  /** Handles a character that may open a frame. */
  #opened(text: string, at: number, place: ShellPlace): number {
    const isQuote = text[at] === "'" || text[at] === '"'
    // Shells disagree about quotes in ${ } within quotes, and in arithmetic.
    if (isQuote && place !== 'bare' && this.#top().end !== '"' && this.#top().end !== '')
      return this.#stopTracking(at)
    if (text.startsWith('$((', at)) return this.#push({ place: 'sum', end: '))' }, at + 3)
    if (text.startsWith('$[', at)) return this.#push({ place: 'sum', end: ']' }, at + 2)
    if (text.startsWith('$(', at)) {
      this.#command().expand()
      return this.#push({ place: 'bare', end: ')', command: this.#inner() }, at + 2)
    }
    if (text.startsWith('${', at)) return this.#parameter(text, at, place)
    if (text[at] === '`') {
      this.#command().expand()
      return this.#push({ place: 'bare', end: '`', command: this.#inner() }, at + 1)
    }
    if (place === 'sum' || place === 'parameter') return this.#summed(text, at, place)
    SHELL_VARIABLE.lastIndex = at
    const [variable] = SHELL_VARIABLE.exec(text) ?? []
    if (variable !== undefined) {
      this.#command().expand()
      this.#command().take(variable.slice(1), false)
      return at + variable.length
    }
    if (place === 'bare') return this.#bare(text, at)
    this.#command().take(text[at] as string, false)
    return at + 1
  }

  #parameter(text: string, at: number, place: ShellPlace): number {
    SHELL_PARAMETER.lastIndex = at
    const [head] = SHELL_PARAMETER.exec(text) ?? []
    this.#command().expand()
    const isTyped = head?.endsWith('=') === true && this.#declared.hasNumbers
    if (head === undefined || isTyped) return this.#push({ place: 'parameter', end: '}' }, at + 2)
    return this.#push({ place, end: '}' }, at + head.length)
  }

  /** Counts brackets, so that an arithmetic expression ends where a shell ends it. */
  #summed(text: string, at: number, place: ShellPlace): number {
    const character = text[at] as string
    if (character === '(') return this.#push({ place, end: ')' }, at + 1)
    if (character === '[') return this.#push({ place, end: ']' }, at + 1)
    return /[)\]#]/.test(character) && place === 'sum' ? this.#stopTracking(at) : at + 1
  }

  /** Handles a position where commands and their words are read. */
  #bare(text: string, at: number): number {
    const character = text[at] as string
    if (text.startsWith("$'", at)) return this.#dollarQuoted(text, at)
    if (character === '(') return this.#parenthesis(text, at)
    if (character === "'" || character === '"') {
      this.#command().take('', false)
      return this.#push({ place: character === "'" ? 'single' : 'double', end: character }, at + 1)
    }
    if (character === '#' && /[\s;&|()<>`]/.test(this.#previous)) {
      return this.#push({ place: 'comment', end: '\n' }, at + 1)
    }
    if (text.startsWith('<<<', at)) {
      this.#command().redirect('text')
      return at + 3
    }
    if (text.startsWith('<<', at)) return this.#announce(text, at)
    return this.#word(text, at)
  }

  /** `$'…'`: a text with escapes in some shells, and a dollar before a text in others. */
  #dollarQuoted(text: string, at: number): number {
    const end = text.indexOf("'", at + 2)
    if (end < 0 || text.slice(at, end).includes('\\')) return this.#stopTracking(at)
    this.#command().take('$', false)
    return at + 1
  }

  #parenthesis(text: string, at: number): number {
    if (text.startsWith('((', at)) return this.#push({ place: 'sum', end: '))' }, at + 2)
    if (this.#command().isTest) {
      this.#command().endWord()
      return this.#frames.length > 0 ? this.#stopTracking(at) : at + 1
    }
    EMPTY_GROUP.lastIndex = at
    const [empty] = EMPTY_GROUP.exec(text) ?? []
    if (empty !== undefined && !this.#command().isAssigning) {
      this.#endCommand()
      return at + empty.length
    }
    const isGroup = !this.#command().isInWord && !/[<>]/.test(this.#previous)
    return this.#push(
      { place: 'bare', end: ')', command: this.#inner(this.#command().isAssigning), isGroup },
      at + 1,
    )
  }

  #word(text: string, at: number): number {
    const character = text[at] as string
    const isCopy = character === '&' && (/[<>]/.test(this.#previous) || text[at + 1] === '>')
    if (character === ' ' || character === '\t' || isCopy) this.#command().endWord()
    else if (character === '<' || character === '>') {
      this.#command().redirect(character === '<' ? 'in' : 'out')
    } else if (character === '&' && this.#previous === '|') return at + 1
    else if (/[\n;&|)]/.test(character)) this.#endCommand(character === '|')
    else this.#command().take(character, true)
    if (character === ';' && this.#previous === ';') this.#command().pattern()
    // Patterns of a case have closing brackets without opening ones.
    if (this.#frames.length > 0 && this.#command().name === 'case') return this.#stopTracking(at)
    return at + 1
  }

  #announce(text: string, at: number): number {
    HERE_DOCUMENT_START.lastIndex = at
    const here = HERE_DOCUMENT_START.exec(text)
    if (!here) return this.#stopTracking(at)
    const [whole, dash, single, double, unquoted = ''] = here
    const quoted = single ?? double
    const isRaw = quoted !== undefined || whole.includes('\\')
    this.#announced.push({ word: quoted ?? unquoted, isRaw, isTabbed: dash === '-' })
    this.#command().endWord()
    this.#command().document(isRaw)
    this.#isAtWord = at + whole.length === text.length
    return at + whole.length
  }

  /** At the end of a line a document may begin or end. */
  #endLine(): void {
    const { place, end } = this.#top()
    const isInside = (place === 'here' || place === 'raw-here' || place === 'program') && end === ''
    const [document] = this.#documents
    const content = document?.isTabbed ? this.#line.replace(/^\t+/, '') : this.#line
    if (isInside && content === document?.word) {
      this.#documents.shift()
      this.#take()
    } else if (place !== 'bare') return
    else this.#documents.push(...this.#announced.splice(0))
    const following = this.#documents[0]
    if (following) {
      const kind = this.#readsPrograms ? 'program' : 'here'
      this.#push(
        { place: following.isRaw ? 'raw-here' : kind, end: '', command: this.#inner(true) },
        0,
      )
    } else this.#readsPrograms = false
  }
}
