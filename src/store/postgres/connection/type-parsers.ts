import type { CustomTypesConfig } from 'pg'

/** Result types other than text. All our integers stay below 2^53, so a number holds each. */
const OID = {
  boolean: 16,
  bytea: 17,
  bigint: 20,
  smallint: 21,
  int: 23,
  intArray: 1007,
  bigintArray: 1016,
}

const asNumber = (text: string): number => Number(text)
const asNumbers = (text: string): number[] =>
  text === '{}' ? [] : text.slice(1, -1).split(',').map(Number)

/** `\\x` and then two digits per byte. */
const asBytes = (text: string): Buffer => Buffer.from(text.slice(2), 'hex')

const PARSERS = new Map<number, (text: string) => unknown>([
  [OID.boolean, (text) => text === 't'],
  [OID.bytea, asBytes],
  [OID.bigint, asNumber],
  [OID.smallint, asNumber],
  [OID.int, asNumber],
  [OID.intArray, asNumbers],
  [OID.bigintArray, asNumbers],
])
const asText = (text: string): string => text

/** Passed to each connection; `pg.types` is global and may belong to the rest of the program. */
export const typeParsers: CustomTypesConfig = {
  getTypeParser: (oid: number) => PARSERS.get(oid) ?? asText,
}
