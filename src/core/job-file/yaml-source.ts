import {
  type Document,
  isMap,
  isScalar,
  isSeq,
  LineCounter,
  type Node,
  type Pair,
  parseDocument,
  type ParsedNode,
  visit,
} from 'yaml'
import { LIMITS } from '../limits.ts'

/** A range in a file: the line and column where it begins, counted from 1, and its length on that line. */
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

/** The value of a file and the positions of its parts. */
export interface YamlSource {
  readonly value: unknown
  readonly problems: readonly SourceProblem[]
  /** The position of the field's key, or of the nearest enclosing part that exists. */
  placeOf(field: string): Place
  /** The position of some characters of a text, if the file contains them unchanged. */
  placeIn(field: string, at: number, length: number): Place
}

const MAX_ALIASES = 100
const TRAPS = new Set(['__proto__', 'constructor', 'prototype'])

/**
 * Reads YAML 1.2 (JSON is a subset): only JSON types, no duplicate keys. The YAML library compares each key with all
 * earlier ones, which takes minutes for 200,000 keys; duplicates are therefore found here.
 */
export function readYaml(text: string): YamlSource {
  const lines = new LineCounter()
  const document = parseDocument(text, {
    version: '1.2',
    schema: 'core',
    uniqueKeys: false,
    stringKeys: true,
    merge: false,
    prettyErrors: false,
    lineCounter: lines,
  })
  const place = (range: readonly number[] | null | undefined): Place => {
    const [from = 0, to = from + 1] = range ?? []
    const { line, col } = lines.linePos(Math.min(from, text.length))
    const end = text.slice(from, to).indexOf('\n')
    const length = Math.max(1, end < 0 ? Math.min(to, text.length) - from : end)
    return { line: Math.max(1, line), column: Math.max(1, col), length }
  }
  // Errors after the first syntax error are mostly its consequences.
  const [first] = document.errors.toSorted((a, b) => a.pos[0] - b.pos[0])
  const found = first ? [first] : [...repeatedKeys(document), ...document.warnings]
  const broken = found.map(({ message, code, pos }) => ({
    message: sentence(message),
    hint: hintFor(code),
    place: place(pos),
  }))
  const problems: SourceProblem[] = broken.length > 0 ? broken : trapsIn(document, place)
  const indexes: Indexes = new WeakMap()
  const placeOf = (field: string) => place(rangeOf(document.contents, field, indexes))
  const placeIn = (field: string, at: number, length: number) => {
    const written = scalarOf(document.contents, field, indexes)
    const from = written && offsetIn(text, written, at, length)
    return from === undefined ? placeOf(field) : place([from, from + length])
  }
  if (problems.length > 0) return { value: undefined, problems, placeOf, placeIn }
  return { placeOf, placeIn, ...valueOf(document, place(document.contents?.range)) }
}

function valueOf(document: Document, start: Place) {
  try {
    const value: unknown = document.toJS({ maxAliasCount: MAX_ALIASES })
    if (depthOf(value) <= LIMITS.jsonDepth) return { value, problems: [] }
    const message = `it is more than ${LIMITS.jsonDepth} levels deep`
    return { value: undefined, problems: [{ message, place: start }] }
  } catch (error) {
    const message = `its aliases expand to too much: ${(error as Error).message}`
    const hint = `At most ${MAX_ALIASES} aliases are followed; write it out.`
    return { value: undefined, problems: [{ message, hint, place: start }] }
  }
}

/** Aliases can form cycles, so the walk stops at the maximum depth. */
function depthOf(value: unknown, depth = 0): number {
  if (typeof value !== 'object' || value === null) return depth
  if (depth > LIMITS.jsonDepth) return depth
  let deepest = depth + 1
  for (const inner of Object.values(value)) {
    deepest = Math.max(deepest, depthOf(inner, depth + 1))
    if (deepest > LIMITS.jsonDepth) break
  }
  return deepest
}

/** Keys that occur earlier in the same map. */
function repeatedKeys(document: Document) {
  const repeated: { code: string; message: string; pos: readonly number[] }[] = []
  visit(document, {
    Map(_key, { items }) {
      const known = new Set<unknown>()
      for (const { key } of items) {
        if (!isScalar(key)) continue
        const [from = 0] = key.range ?? []
        const pos = [from, from + 1]
        if (known.has(key.value))
          repeated.push({ code: 'DUPLICATE_KEY', message: 'Map keys must be unique', pos })
        known.add(key.value)
      }
    },
  })
  return repeated
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

/** The offset in the file of some characters of a text; undefined if it is written with escapes or folded. */
function offsetIn(text: string, scalar: Written, at: number, length: number): number | undefined {
  const { value, range } = scalar
  const piece = value.slice(at, at + length)
  const source = text.slice(range[0], range[1])
  const times = (whole: string) => whole.split(piece).length - 1
  if (piece === '' || piece.includes('\n') || times(source) !== times(value)) return undefined
  const before = source.split(piece).slice(0, times(value.slice(0, at)) + 1)
  return range[0] + before.join(piece).length
}

interface Written {
  readonly value: string
  readonly range: readonly [number, number, ...number[]]
}

function scalarOf(
  contents: ParsedNode | Node | null,
  field: string,
  indexes: Indexes,
): Written | undefined {
  let node: unknown = contents
  let rest = field.split('.')
  while (rest.length > 0) {
    const found = memberOf(node, rest, indexes)
    if (!found) return undefined
    node = found.node
    rest = rest.slice(found.taken)
  }
  if (!isScalar(node) || typeof node.value !== 'string' || !node.range) return undefined
  return { value: node.value, range: node.range }
}

/** Names may contain dots, so the longest existing name is used. */
function rangeOf(
  contents: ParsedNode | Node | null,
  field: string,
  indexes: Indexes,
): readonly number[] | undefined {
  let node: unknown = contents
  let range: readonly number[] | undefined
  let rest = field === '' ? [] : field.split('.')
  while (rest.length > 0) {
    const found = memberOf(node, rest, indexes)
    if (!found) break
    ;({ node, range } = found)
    rest = rest.slice(found.taken)
  }
  return range ?? (contents as ParsedNode | null)?.range ?? undefined
}

/** The entries of each map by name, built at the first lookup: a file may have many problems. */
type Indexes = WeakMap<object, ReadonlyMap<unknown, Pair>>

function memberOf(node: unknown, path: readonly string[], indexes: Indexes) {
  if (isSeq(node)) {
    const item = node.items[Number(path[0])] as Node | undefined
    return item ? { node: item, range: item.range ?? undefined, taken: 1 } : undefined
  }
  if (!isMap(node)) return undefined
  let index = indexes.get(node)
  if (!index) {
    index = new Map(node.items.map((pair) => [isScalar(pair.key) ? pair.key.value : pair, pair]))
    indexes.set(node, index)
  }
  for (let taken = path.length; taken > 0; taken -= 1) {
    const pair = index.get(path.slice(0, taken).join('.'))
    if (!pair) continue
    const { key } = pair as { key: Node }
    return { node: pair.value, range: key.range ?? undefined, taken }
  }
  return undefined
}

/** Removes the repetition in a message of the library and starts it in lower case, as in other messages. */
function sentence(message: string): string {
  const [line = ''] = message.split('\n')
  return line.charAt(0).toLowerCase() + line.slice(1).replace(/[:.]\s*$/, '')
}

function hintFor(code: string): string | undefined {
  switch (code) {
    case 'DUPLICATE_KEY':
      return 'Keep one of them: the others would be ignored.'
    case 'BAD_INDENT':
      return 'Count the spaces at the beginning of this line: it should line up with its neighbours.'
    case 'BLOCK_AS_IMPLICIT_KEY':
    case 'BLOCK_IN_FLOW':
    case 'MULTILINE_IMPLICIT_KEY':
      return 'Look for an extra space at the beginning of this line or the next, or a `: ` in a text without quotes.'
    case 'MISSING_CHAR':
      return 'Close the open quote or bracket.'
    case 'TAB_AS_INDENT':
      return 'Indent with spaces; YAML allows no tabs there.'
    case 'MULTIPLE_DOCS':
      return 'A file holds one job: write a file for each.'
    case 'TAG_RESOLVE_FAILED':
      return 'Leave the tag out: values are texts, numbers, true, false, null, lists and maps.'
    default:
      return undefined
  }
}
