import {
  type Document,
  isMap,
  isPair,
  isScalar,
  isSeq,
  LineCounter,
  type Node,
  parseDocument,
  type ParsedNode,
  visit,
} from 'yaml'
import { LIMITS } from '../limits.ts'

/** A stretch of a file: where it begins, counted from 1, and how long it is on that line. */
export interface Place {
  readonly line: number
  readonly column: number
  readonly length: number
}

export interface SourceProblem {
  readonly message: string
  readonly hint?: string | undefined
  readonly place: Place
}

/** A file as a value, and where in it each of its parts stands. */
export interface YamlSource {
  readonly value: unknown
  readonly problems: readonly SourceProblem[]
  /** The key of the field, or the nearest thing around it that is there. */
  placeOf(field: string): Place
}

const MOST_ALIASES = 100
const TRAPS = new Set(['__proto__', 'constructor', 'prototype'])

/** Reads YAML 1.2, of which JSON is a part: no types but those of JSON, no key twice. */
export function readYaml(text: string): YamlSource {
  const lines = new LineCounter()
  const document = parseDocument(text, {
    ...{ version: '1.2', schema: 'core', uniqueKeys: true, stringKeys: true, merge: false },
    ...{ prettyErrors: false, lineCounter: lines },
  })
  const place = (range: readonly number[] | null | undefined): Place => {
    const [from = 0, to = from + 1] = range ?? []
    const { line, col } = lines.linePos(Math.min(from, text.length))
    const end = text.indexOf('\n', from)
    const length = Math.max(1, Math.min(to, end < 0 ? text.length : end) - from)
    return { line: Math.max(1, line), column: Math.max(1, col), length }
  }
  const broken = [...document.errors, ...document.warnings].map((error) => ({
    message: sentence(error.message),
    hint: hintFor(error.code),
    place: place(error.pos),
  }))
  const problems: SourceProblem[] = broken.length > 0 ? broken : trapsIn(document, place)
  const placeOf = (field: string) => place(rangeOf(document.contents, field))
  if (problems.length > 0) return { value: undefined, problems, placeOf }
  return { placeOf, ...valueOf(document, place(document.contents?.range)) }
}

function valueOf(document: Document, start: Place) {
  try {
    const value: unknown = document.toJS({ maxAliasCount: MOST_ALIASES })
    if (depthOf(value) <= LIMITS.jsonDepth) return { value, problems: [] }
    const message = `it is more than ${LIMITS.jsonDepth} levels deep`
    return { value: undefined, problems: [{ message, place: start }] }
  } catch (error) {
    const message = `its aliases stand for too much: ${(error as Error).message}`
    const hint = `At most ${MOST_ALIASES} aliases are followed; write it out.`
    return { value: undefined, problems: [{ message, hint, place: start }] }
  }
}

/** Aliases can make circles: whoever walks must know when to stop. */
function depthOf(value: unknown, depth = 0): number {
  if (typeof value !== 'object' || value === null) return depth
  if (depth > LIMITS.jsonDepth) return depth
  let most = depth + 1
  for (const inner of Object.values(value)) {
    most = Math.max(most, depthOf(inner, depth + 1))
    if (most > LIMITS.jsonDepth) break
  }
  return most
}

function trapsIn(document: Document, place: (range?: readonly number[] | null) => Place) {
  const problems: SourceProblem[] = []
  visit(document, {
    Pair(_key, pair) {
      const { key } = pair
      if (!isScalar(key) || !TRAPS.has(String(key.value))) return
      problems.push({
        message: `the key ${String(key.value)} is not allowed`,
        place: place(key.range),
      })
    },
  })
  return problems
}

/** Names may have points in them, so the longest one that is there is the one that is meant. */
function rangeOf(contents: ParsedNode | Node | null, field: string): readonly number[] | undefined {
  let node: unknown = contents
  let range: readonly number[] | undefined
  let rest = field === '' ? [] : field.split('.')
  while (rest.length > 0) {
    const found = memberOf(node, rest)
    if (!found) break
    ;({ node, range } = found)
    rest = rest.slice(found.taken)
  }
  return range ?? (contents as ParsedNode | null)?.range ?? undefined
}

function memberOf(node: unknown, path: readonly string[]) {
  if (isSeq(node)) {
    const item = node.items[Number(path[0])] as Node | undefined
    return item ? { node: item, range: item.range ?? undefined, taken: 1 } : undefined
  }
  if (!isMap(node)) return undefined
  for (let taken = path.length; taken > 0; taken -= 1) {
    const name = path.slice(0, taken).join('.')
    const pair = node.items.find(
      (one) => isPair(one) && isScalar(one.key) && one.key.value === name,
    )
    if (!pair) continue
    const { key } = pair as { key: Node }
    return { node: pair.value, range: key.range ?? undefined, taken }
  }
  return undefined
}

/** Without what is said twice, and beginning small as our own sentences do. */
function sentence(message: string): string {
  const [line = ''] = message.split('\n')
  return line.charAt(0).toLowerCase() + line.slice(1).replace(/[:.]\s*$/, '')
}

function hintFor(code: string): string | undefined {
  switch (code) {
    case 'DUPLICATE_KEY':
      return 'Keep one of them: the others would be lost without a word.'
    case 'TAB_AS_INDENT':
      return 'Indent with spaces; YAML knows no tabs there.'
    case 'MULTIPLE_DOCS':
      return 'A file holds one job: make a file of each.'
    case 'TAG_RESOLVE_FAILED':
      return 'Leave the tag out: values are texts, numbers, true, false, null, lists and maps.'
    default:
      return undefined
  }
}
