import { PunctualError } from '../core/errors.ts'

/** Where a page ended. Opaque to users, so that what it holds may change. */
export function encodeCursor(lastId: number): string {
  return Buffer.from(`1:${lastId}`).toString('base64url')
}

export function decodeCursor(cursor: string): number {
  const text = Buffer.from(cursor, 'base64url').toString('latin1')
  const id = /^1:(\d{1,16})$/.exec(text)?.[1]
  if (id !== undefined && encodeCursor(Number(id)) === cursor) return Number(id)
  throw new PunctualError('invalid_cursor', 'the cursor was not given by this server', {
    field: 'cursor',
  })
}
