import type { Database } from 'better-sqlite3'
import type { LogChunk, LogEnd, LogStore, LogVerdict, StoredChunk } from '../port.ts'
import type { Sync } from './verbs.ts'

export const IS_UNDER_WAY = `SELECT 1 FROM run WHERE id = ? AND status = 1 AND fence = ?`
export const LAST_CHUNK = `
  SELECT chunk, first_line + lines AS nextLine FROM log_chunk
   WHERE run_id = ? AND fence = ? ORDER BY chunk DESC LIMIT 1`
export const LOG_END = `
  SELECT chunk + 1 AS chunks, first_line + lines AS lines FROM log_chunk
   WHERE run_id = ? AND fence = ? ORDER BY chunk DESC LIMIT 1`
export const ADD_CHUNK = `
  INSERT INTO log_chunk (run_id, fence, chunk, first_line, lines, entries) VALUES (?, ?, ?, ?, ?, ?)`
export const CHUNKS_FROM = `
  SELECT chunk, first_line AS firstLine, lines, entries FROM log_chunk
   WHERE run_id = :runId AND fence = :fence AND chunk >= :from ORDER BY chunk LIMIT :limit`
/** Lines only grow with chunks, so the last chunk that starts early enough has it, or nobody does. */
export const FIND_LINE = `
  SELECT chunk FROM (
    SELECT chunk, first_line + lines AS next_line FROM log_chunk
     WHERE run_id = :runId AND fence = :fence AND first_line <= :line
     ORDER BY chunk DESC LIMIT 1)
   WHERE next_line > :line`

export type AppendLog = (chunks: readonly LogChunk[]) => LogVerdict[]

export function prepareAppendLog(db: Database): AppendLog {
  const isUnderWay = db.prepare<[number, number]>(IS_UNDER_WAY)
  const lastChunk = db.prepare<[number, number], { chunk: number; nextLine: number }>(LAST_CHUNK)
  const add = db.prepare(ADD_CHUNK)

  return (chunks) =>
    chunks.map(({ runId, fence, chunk, lines, entries }) => {
      if (isUnderWay.get(runId, fence) === undefined) return 'stale'
      const last = lastChunk.get(runId, fence)
      const next = last ? last.chunk + 1 : 0
      if (chunk !== next) return { stored: next }
      add.run(runId, fence, chunk, last?.nextLine ?? 0, lines, entries)
      return { stored: next + 1 }
    })
}

export function prepareLogQueries(db: Database): Sync<Omit<LogStore, 'appendLog'>> {
  const chunksFrom = db.prepare<[object], StoredChunk>(CHUNKS_FROM)
  const end = db.prepare<[number, number], LogEnd>(LOG_END)
  const findLine = db.prepare<[object], number>(FIND_LINE).pluck()
  return {
    logChunks: (input) => chunksFrom.all(input),
    logEnd: ({ runId, fence }) => end.get(runId, fence) ?? { chunks: 0, lines: 0 },
    findLine: (input) => findLine.get(input) ?? null,
  }
}
