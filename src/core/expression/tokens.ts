import { shortened, expressionError } from './expression-error.ts'

export type Token =
  | { readonly kind: 'word'; readonly text: string }
  | { readonly kind: 'string'; readonly text: string }
  | { readonly kind: 'number'; readonly text: string }
  | { readonly kind: 'sign'; readonly text: string }

/** The tokens up to the closing brackets, and the position after them. */
export interface Tokens {
  readonly tokens: readonly Token[]
  readonly end: number
}

const SPACE = /\s+/y
// A name may contain dashes: there is no minus operator to confuse them with.
const WORD = /[A-Za-z_][A-Za-z0-9_-]*/y
const NUMBER = /-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/y
const STRING = /'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"/sy
const SIGN = /\}\}|==|!=|<=|>=|&&|\|\||[<>!()[\],.]/y

/** Reads from the position after `${{`. A `}}` within quotes is text. */
export function readTokens(text: string, start: number, field: string): Tokens {
  const tokens: Token[] = []
  let at = start
  const take = (pattern: RegExp): string | undefined => {
    pattern.lastIndex = at
    const found = pattern.exec(text)?.[0]
    if (found !== undefined) at = pattern.lastIndex
    return found
  }
  for (;;) {
    take(SPACE)
    if (at >= text.length) {
      const message = `\${{ is not closed: "${shortened(text.slice(start))}"`
      throw expressionError(field, message, 'End it with }}; for the text ${{ itself, write $${{.')
    }
    const sign = take(SIGN)
    if (sign === '}}') return { tokens, end: at }
    if (sign !== undefined) tokens.push({ kind: 'sign', text: sign })
    else tokens.push(readToken(take, text.slice(at), field))
  }
}

function readToken(
  take: (pattern: RegExp) => string | undefined,
  rest: string,
  field: string,
): Token {
  const word = take(WORD)
  if (word !== undefined) return { kind: 'word', text: word }
  const number = take(NUMBER)
  if (number !== undefined) return { kind: 'number', text: number }
  const string = take(STRING)
  if (string !== undefined) return { kind: 'string', text: unescape(string, field) }
  if (/^['"]/.test(rest)) throw expressionError(field, `a text is not closed: ${shortened(rest)}`)
  const character = [...rest.slice(0, 2)][0] as string
  throw expressionError(field, `"${character}" has no meaning here`, hintFor(character))
}

const ESCAPES: Readonly<Record<string, string>> = { n: '\n', t: '\t', r: '\r' }

function unescape(quoted: string, field: string): string {
  return quoted.slice(1, -1).replaceAll(/\\(.)/gs, (_whole, character: string) => {
    if (/['"\\]/.test(character)) return character
    const unescaped = ESCAPES[character]
    if (unescaped !== undefined) return unescaped
    throw expressionError(field, `\\${character} has no meaning in a text`, 'Write \\\\ for a \\.')
  })
}

function hintFor(character: string): string | undefined {
  if (character === '=') return 'Use == for equality.'
  if (character === '&') return 'Use && for "and".'
  if (character === '|') return 'Use || for "or"; there are no filters.'
  if ('+-*/%'.includes(character))
    return 'Expressions have no arithmetic: compute the value in a step.'
  return undefined
}
