const CLASS = /^\[\^?\]?(?:\\.|\[:\^?\w+:\]|[^\]\\])*\]/
/**
 * Alternatives, groups that change the meaning of the rest, characters by number: these are not
 * analysed.
 */
const NOT_ANALYSED = /\||\(\?|\\[0-7]|\\[a-zA-Z0-9]*[QExpPC]/

/**
 * Text that every match of a regular expression contains, as far as it is easy to find. Too few
 * literals make a search slower; a wrong one would lose hits, so anything complex ends a literal.
 */
export function requiredLiterals(pattern: string): string[] {
  if (NOT_ANALYSED.test(pattern)) return []
  const found: string[] = []
  let piece: string[] = []
  let depth = 0
  const end = () => {
    if (piece.length > 0) found.push(piece.join(''))
    piece = []
  }
  for (let at = 0; at < pattern.length;) {
    const token = tokenAt(pattern, at)
    if (token === undefined) break
    at += token.length
    if (token === '(' || token === ')') {
      depth += token === '(' ? 1 : -1
      end()
    } else if (token === '*' || token === '?' || token === '{') {
      // The character before it may be missing.
      piece.pop()
      end()
      // The numbers in the braces are not text.
      if (token === '{') at = pattern.indexOf('}', at) + 1 || pattern.length
    } else if (token === '+' || isClass(token)) end()
    else if (depth === 0) piece.push(token.startsWith('\\') ? token.slice(1) : token)
  }
  end()
  return found
}

/** A character, an escape or a class; undefined if it is none of these. */
function tokenAt(pattern: string, at: number): string | undefined {
  const rest = pattern.slice(at)
  if (rest.startsWith('[')) return CLASS.exec(rest)?.[0]
  const character = String.fromCodePoint(rest.codePointAt(0) as number)
  if (character !== '\\') return character
  return rest.length > 1 ? rest.slice(0, 2) : undefined
}

function isClass(token: string): boolean {
  return /^(?:\[|\\[a-zA-Z0-9]|[.^$]$)/.test(token)
}
