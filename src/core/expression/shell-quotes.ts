/** Where in the text of a shell one is. */
export type ShellPlace = 'bare' | 'double' | 'single' | 'here' | 'raw-here' | 'sum' | 'comment'

/** Follows the quotes of a POSIX shell, as far as it has to be known what a variable would mean there. */
export interface ShellQuotes {
  /** Goes on over more text. */
  read(text: string): void
  readonly place: ShellPlace
  /** The next character would be escaped. */
  readonly isEscaped: boolean
}

interface Frame {
  readonly place: ShellPlace
  /** What ends it. */
  readonly end: string
}

interface HereDocument {
  readonly word: string
  readonly isRaw: boolean
}

const BOTTOM: Frame = { place: 'bare', end: '' }
const HERE = /<<(-?)[ \t]*(?:'([^'\n]*)'|"([^"\n]*)"|\\?([A-Za-z0-9_.-]+))/y

export function createShellQuotes(): ShellQuotes {
  const frames: Frame[] = []
  /** Announced, and beginning with the next line. */
  const announced: HereDocument[] = []
  let line = ''
  let previous = '\n'
  let isEscaped = false
  const top = () => frames.at(-1) ?? BOTTOM

  /** Takes the character at `at`, and returns where to go on. */
  const step = (text: string, at: number): number => {
    const { place, end } = top()
    if (isEscaped) {
      isEscaped = false
      return at + 1
    }
    if (text.startsWith(end, at) && end !== '') {
      frames.pop()
      // A line that ends a comment also ends the line that announced a document.
      return place === 'comment' ? at : at + end.length
    }
    if (place === 'single' || place === 'comment' || place === 'raw-here') return at + 1
    if (text[at] === '\\') {
      isEscaped = true
      return at + 1
    }
    return opened(text, at, place)
  }

  /** Something may begin here. */
  const opened = (text: string, at: number, place: ShellPlace): number => {
    const push = (frame: Frame, length: number) => {
      frames.push(frame)
      return at + length
    }
    if (text.startsWith('$((', at)) return push({ place: 'sum', end: '))' }, 3)
    if (text.startsWith('$(', at)) return push({ place: 'bare', end: ')' }, 2)
    if (text.startsWith('${', at)) return push({ place, end: '}' }, 2)
    if (text[at] === '`') return push({ place: 'bare', end: '`' }, 1)
    if (place !== 'bare') return at + 1
    if (text.startsWith('((', at)) return push({ place: 'sum', end: '))' }, 2)
    if (text[at] === '(') return push({ place: 'bare', end: ')' }, 1)
    if (text[at] === "'") return push({ place: 'single', end: "'" }, 1)
    if (text[at] === '"') return push({ place: 'double', end: '"' }, 1)
    if (text[at] === '#' && /[\s;&|()]/.test(previous))
      return push({ place: 'comment', end: '\n' }, 1)
    if (text.startsWith('<<<', at)) return at + 3
    HERE.lastIndex = at
    const here = HERE.exec(text)
    if (!here) return at + 1
    const [whole, , single, double, plain = ''] = here
    const quoted = single ?? double
    announced.push({ word: quoted ?? plain, isRaw: quoted !== undefined || whole.includes('\\') })
    return at + whole.length
  }

  /** At the end of a line a document may begin, or have ended. */
  const endLine = () => {
    const { place } = top()
    const isInside = place === 'here' || place === 'raw-here'
    if (isInside && line.replace(/^\t+/, '') === documents[0]?.word) {
      documents.shift()
      frames.pop()
    } else if (place !== 'bare' || announced.length === 0) return
    else documents.push(...announced.splice(0))
    const following = documents[0]
    if (following) frames.push({ place: following.isRaw ? 'raw-here' : 'here', end: '' })
  }
  const documents: HereDocument[] = []

  return {
    get place() {
      return top().place
    },
    get isEscaped() {
      return isEscaped
    },
    read(text) {
      let at = 0
      while (at < text.length) {
        const character = text[at] as string
        const from = at
        at = step(text, at)
        if (at === from) continue
        previous = text[at - 1] as string
        if (character === '\n') {
          endLine()
          line = ''
        } else line += text.slice(from, at)
      }
    },
  }
}
