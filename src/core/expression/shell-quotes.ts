import { createShellCommand, type Declared, type ShellCommand } from './shell-command.ts'

/** Where in the text of a shell one is; `lost` where shells would not agree. */
export type ShellPlace = QuotedPlace | 'bare' | 'program' | 'sum' | 'parameter' | 'lost'
type QuotedPlace = 'double' | 'single' | 'here' | 'raw-here' | 'comment'

/** Follows the quotes of a POSIX shell, as far as it has to be known what a variable would mean there. */
export interface ShellQuotes {
  /** Goes on over more text. */
  read(text: string): void
  /** Goes on over an expression. */
  value(): void
  /** There is no more. */
  end(): void
  readonly place: ShellPlace
  /** Why a value cannot stand here, although something is replaced here. */
  readonly risk: string | undefined
  /** Why the last value should not have stood where it did, now that more is known. */
  readonly regret: string | undefined
  /** The next character would be escaped. */
  readonly isEscaped: boolean
}

interface Frame {
  readonly place: ShellPlace
  /** What ends it. */
  readonly end: string
  /** The command whose words are read here, if it is not the one around. */
  readonly command?: ShellCommand
  /** What follows it is another command. */
  readonly isGroup?: boolean
}

interface HereDocument {
  readonly word: string
  readonly isRaw: boolean
  readonly isTabbed: boolean
}

const HERE = /<<(-?)[ \t]*(?:'([^'\n]*)'|"([^"\n]*)"|\\?([A-Za-z0-9_.-]+))(?=[\s;&|<>()]|$)/y
/** A parameter and what is said of it that a value may follow: a text, or a pattern. */
const PARAMETER = /\$\{(?:[A-Za-z_]\w*|\d+|[@*?$!-])(?::?[-=+?]|##?|%%?|\/|\^\^?|,,?)/y
/** Whoever nests deeper is not followed. */
const DEPTH = 100
export const LOST =
  'stands beside or behind something that shells read in different ways, so nobody knows what it would mean there'
const EMPTY_GROUP = /\([ \t]*\)/y

export function createShellQuotes(shell: string): ShellQuotes {
  const declared: Declared = { hasNumbers: false }
  const bottom: Frame & { command: ShellCommand } = {
    place: 'bare',
    end: '',
    command: createShellCommand(shell, declared),
  }
  const frames: Frame[] = []
  /** Announced, and beginning with the next line. */
  const announced: HereDocument[] = []
  const documents: HereDocument[] = []
  let line = ''
  let previous = '\n'
  let isEscaped = false
  /** The line before goes on here. */
  let isJoined = false
  /** The word that ends a document may go on here. */
  let isAtWord = false
  let isLost = false
  /** A command of this line reads programs, and the documents of the line may be one. */
  let readsPrograms = false
  let regret: string | undefined
  const top = () => frames.at(-1) ?? bottom
  /** Those of the frames that have one, outermost first. */
  const commands: ShellCommand[] = [bottom.command]
  const command = () => commands.at(-1) as ShellCommand
  let backticks = 0
  const lose = (at: number) => {
    isLost = true
    // What would be known of them now is not.
    if (commands.some(({ hasValue }) => hasValue)) regret ??= LOST
    return at + 1
  }

  const endCommand = (isPipe = false) => {
    command().endWord()
    readsPrograms ||= command().readsPrograms
    regret ??= command().end(isPipe)
  }

  const push = (frame: Frame, at: number) => {
    frames.push(frame)
    if (frame.command) commands.push(frame.command)
    if (frame.end === '`') backticks++
    return frames.length > DEPTH ? lose(at) : at
  }

  const take = () => {
    const frame = frames.pop() as Frame
    if (frame.command) commands.pop()
    return frame
  }

  const pop = (at: number) => {
    if (top().command) endCommand()
    // A document that would begin behind the command it belongs to.
    if (top().command && announced.length > 0) lose(at)
    const { isGroup, place, end } = take()
    if (end === '`') backticks--
    if (isGroup) endCommand()
    else if (place !== 'comment') command().take('', false)
    return at
  }

  /** Takes the character at `at`, and returns where to go on. */
  const step = (text: string, at: number): number => {
    const { place, end } = top()
    const character = text[at] as string
    if (isEscaped) {
      isEscaped = false
      isJoined = character === '\n'
      if (!isJoined) command().take(character, false)
      return at + 1
    }
    // Whether a comment begins is up to the line before.
    if (isJoined && character === '#') return lose(at)
    isJoined = false
    isAtWord = false
    if (end !== '' && text.startsWith(end, at)) {
      // A line that ends a comment also ends the line that announced a document.
      return pop(place === 'comment' ? at : at + end.length)
    }
    // Whatever stands around it, it ends the command that began with one.
    if (character === '`' && backticks > 0) return lose(at)
    if (place === 'single') {
      command().take(character, false)
      return at + 1
    }
    if (place === 'comment' || place === 'raw-here') return at + 1
    if (character === '\\') {
      if (backticks > 0 || place === 'sum') return lose(at)
      isEscaped = true
      return at + 1
    }
    return opened(text, at, place)
  }

  const inner = (isList = false) => createShellCommand(shell, declared, isList)

  /** Something may begin here. */
  const opened = (text: string, at: number, place: ShellPlace): number => {
    const isQuote = text[at] === "'" || text[at] === '"'
    // What quotes mean in ${ } within quotes, and in sums, differs from shell to shell.
    if (isQuote && place !== 'bare' && top().end !== '"' && top().end !== '') return lose(at)
    if (text.startsWith('$((', at)) return push({ place: 'sum', end: '))' }, at + 3)
    if (text.startsWith('$[', at)) return push({ place: 'sum', end: ']' }, at + 2)
    if (text.startsWith('$(', at)) {
      command().take('$', false)
      return push({ place: 'bare', end: ')', command: inner() }, at + 2)
    }
    if (text.startsWith('${', at)) return parameter(text, at, place)
    if (text[at] === '`') {
      command().take('$', false)
      return push({ place: 'bare', end: '`', command: inner() }, at + 1)
    }
    if (place === 'sum' || place === 'parameter') return summed(text, at, place)
    if (place === 'bare') return bare(text, at)
    command().take(text[at] as string, false)
    return at + 1
  }

  const parameter = (text: string, at: number, place: ShellPlace): number => {
    PARAMETER.lastIndex = at
    const [head] = PARAMETER.exec(text) ?? []
    command().take('$', false)
    const isTyped = head?.endsWith('=') === true && declared.hasNumbers
    if (head === undefined || isTyped) return push({ place: 'parameter', end: '}' }, at + 2)
    return push({ place, end: '}' }, at + head.length)
  }

  /** Brackets are counted, so that a sum ends where a shell ends it. */
  const summed = (text: string, at: number, place: ShellPlace): number => {
    const character = text[at] as string
    if (character === '(') return push({ place, end: ')' }, at + 1)
    if (character === '[') return push({ place, end: ']' }, at + 1)
    return /[)\]#]/.test(character) && place === 'sum' ? lose(at) : at + 1
  }

  /** Where commands and their words stand. */
  const bare = (text: string, at: number): number => {
    const character = text[at] as string
    if (text.startsWith("$'", at)) return dollarQuoted(text, at)
    if (character === '(') return parenthesis(text, at)
    if (character === "'" || character === '"') {
      command().take('', false)
      return push({ place: character === "'" ? 'single' : 'double', end: character }, at + 1)
    }
    if (character === '#' && /[\s;&|()<>`]/.test(previous)) {
      return push({ place: 'comment', end: '\n' }, at + 1)
    }
    if (text.startsWith('<<<', at)) {
      command().redirect(true)
      return at + 3
    }
    if (text.startsWith('<<', at)) return announce(text, at)
    return word(text, at)
  }

  /** A text with escapes to some shells, and a dollar before a text to others. */
  const dollarQuoted = (text: string, at: number): number => {
    const end = text.indexOf("'", at + 2)
    if (end < 0 || text.slice(at, end).includes('\\')) return lose(at)
    command().take('$', false)
    return at + 1
  }

  const parenthesis = (text: string, at: number): number => {
    if (text.startsWith('((', at)) return push({ place: 'sum', end: '))' }, at + 2)
    if (command().isTest) {
      command().endWord()
      return frames.length > 0 ? lose(at) : at + 1
    }
    EMPTY_GROUP.lastIndex = at
    const [empty] = EMPTY_GROUP.exec(text) ?? []
    if (empty !== undefined && !command().isAssigning) {
      endCommand()
      return at + empty.length
    }
    const isGroup = !command().isInWord && !/[<>]/.test(previous)
    return push({ place: 'bare', end: ')', command: inner(command().isAssigning), isGroup }, at + 1)
  }

  const word = (text: string, at: number): number => {
    const character = text[at] as string
    const isCopy = character === '&' && (/[<>]/.test(previous) || text[at + 1] === '>')
    if (character === ' ' || character === '\t' || isCopy) command().endWord()
    else if (character === '<' || character === '>') command().redirect(false)
    else if (/[\n;&|)]/.test(character)) endCommand(character === '|')
    else command().take(character, true)
    // Patterns of a case have brackets that nothing opened.
    if (frames.length > 0 && command().name === 'case') return lose(at)
    return at + 1
  }

  const announce = (text: string, at: number): number => {
    HERE.lastIndex = at
    const here = HERE.exec(text)
    if (!here) return lose(at)
    const [whole, dash, single, double, plain = ''] = here
    const quoted = single ?? double
    const isRaw = quoted !== undefined || whole.includes('\\')
    announced.push({ word: quoted ?? plain, isRaw, isTabbed: dash === '-' })
    command().endWord()
    isAtWord = at + whole.length === text.length
    return at + whole.length
  }

  /** At the end of a line a document may begin, or have ended. */
  const endLine = () => {
    const { place, end } = top()
    const isInside = (place === 'here' || place === 'raw-here' || place === 'program') && end === ''
    const [document] = documents
    const said = document?.isTabbed ? line.replace(/^\t+/, '') : line
    if (isInside && said === document?.word) {
      documents.shift()
      take()
    } else if (place !== 'bare') return
    else documents.push(...announced.splice(0))
    const following = documents[0]
    if (following) {
      const inside = readsPrograms ? 'program' : 'here'
      push({ place: following.isRaw ? 'raw-here' : inside, end: '', command: inner(true) }, 0)
    } else readsPrograms = false
  }

  return {
    get place() {
      if (isLost || isAtWord) return 'lost'
      // What comes of a command in a sum is calculated with as well.
      const around = frames.find(({ place }) => /^(?:sum|parameter|program)$/.test(place))
      return around?.place ?? top().place
    },
    get risk() {
      if (top().place === 'comment') return undefined
      return commands.map(({ risk }) => risk).find((risk) => risk !== undefined)
    },
    get regret() {
      return regret
    },
    get isEscaped() {
      return isEscaped
    },
    read(text) {
      let at = 0
      while (at < text.length && !isLost) {
        const character = text[at] as string
        const from = at
        at = step(text, at)
        if (at === from) continue
        previous = text[at - 1] as string
        if (character === '\n' && !isJoined) {
          endLine()
          line = ''
        } else line += text.slice(from, at)
      }
    },
    value() {
      previous = 'x'
      line += 'x'
      if (top().place === 'comment') return
      const [, ...inside] = [bottom, ...frames].filter((frame) => frame.command)
      commands.forEach((one, nth) => {
        // A document and a group are no part of a word of the command around them.
        const within = inside[nth]
        if (within === undefined || (within.end !== '' && !within.isGroup)) one.value()
      })
    },
    end: () => {
      for (const one of commands.toReversed()) regret ??= one.end(false)
    },
  }
}
