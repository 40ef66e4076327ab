import type { LogChunk, LogEnd, LogStore, LogVerdict, StoredChunk } from '../../port.ts'
import { bigints, bytes, ints } from '../connection/binary-arrays.ts'
import { type Database, pickLists } from '../database/database.ts'
import { read, transact } from '../connection/transaction.ts'

type Input<Name extends 'logChunks' | 'findLine' | 'chunksLike'> = Parameters<LogStore[Name]>[0]

/**
 * The lease is locked until this commits: the chunks belong to an attempt that is still the run's
 * current one. `next` is the number of the missing chunk.
 */
const APPEND = {
  name: 'append-log',
  text: `
  WITH item AS (
    SELECT * FROM unnest($1::bigint[], $2::bigint[], $3::int[], $4::int[], $5::bytea[], $6::bytea[])
      WITH ORDINALITY AS t (run_id, fence, chunk, lines, trigrams, packed, nth)),
  held AS MATERIALIZED (
    SELECT item.*, coalesce(last.chunk + 1, 0) AS next, coalesce(last.next_line, 0) AS next_line
      FROM item
     CROSS JOIN LATERAL (
       SELECT FROM lease WHERE lease.run_id = item.run_id AND lease.fence = item.fence
          FOR SHARE) l
      LEFT JOIN LATERAL (
       SELECT chunk, first_line + lines AS next_line FROM log_chunk
        WHERE log_chunk.run_id = item.run_id AND log_chunk.fence = item.fence
        ORDER BY chunk DESC LIMIT 1) last ON true),
  placed AS (
    SELECT held.*, chunk >= next AND min(chunk) OVER attempt <= next AS is_new,
           next_line + coalesce(sum(lines) FILTER (WHERE chunk >= next) OVER (
             attempt ORDER BY chunk ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), 0
           ) AS first_line
      FROM held WINDOW attempt AS (PARTITION BY run_id, fence)),
  added AS (
    INSERT INTO log_chunk (run_id, fence, chunk, first_line, lines, trigrams, packed)
    SELECT run_id, fence, chunk, first_line, lines, trigrams, packed FROM placed WHERE is_new
        ON CONFLICT DO NOTHING)
  SELECT nth::int, CASE WHEN is_new THEN chunk + 1 ELSE next END AS stored FROM placed`,
}
/** Chunks from before chunks were packed are still plain text. */
const CHUNKS_FROM = {
  name: 'log-chunks',
  text: `
  SELECT chunk, first_line AS "firstLine", lines,
         coalesce(packed, convert_to(entries, 'UTF8')) AS packed
    FROM log_chunk
   WHERE run_id = $1::bigint AND fence = $2::bigint AND chunk >= $3::int
   ORDER BY chunk LIMIT $4::int`,
}
const LOG_END = {
  name: 'log-end',
  text: `
  SELECT chunk + 1 AS chunks, first_line + lines AS lines FROM log_chunk
   WHERE run_id = $1::bigint AND fence = $2::bigint ORDER BY chunk DESC LIMIT 1`,
}
/**
 * Line numbers only grow with chunks, and chunks are numbered without gaps: a binary search finds
 * the last chunk that starts early enough.
 */
const FIND_LINE = {
  name: 'find-line',
  text: `
  WITH RECURSIVE half (low, high) AS (
    SELECT 0, (SELECT chunk FROM log_chunk WHERE run_id = $1::bigint AND fence = $2::bigint
                ORDER BY chunk DESC LIMIT 1)
     UNION ALL
    SELECT CASE WHEN is_early THEN middle ELSE low END,
           CASE WHEN is_early THEN high ELSE middle - 1 END
      FROM half
     CROSS JOIN LATERAL (SELECT (low + high + 1) / 2 AS middle) m
     CROSS JOIN LATERAL (
       SELECT (SELECT first_line <= $3::bigint FROM log_chunk
                WHERE run_id = $1::bigint AND fence = $2::bigint AND chunk = middle) AS is_early) e
     WHERE low < high)
  SELECT low AS chunk FROM half
   WHERE low = high AND (
     SELECT first_line <= $3::bigint AND first_line + lines > $3::bigint FROM log_chunk
      WHERE run_id = $1::bigint AND fence = $2::bigint AND chunk = low)`,
}
const CHUNKS_LIKE = {
  name: 'chunks-like',
  text: `
  SELECT chunk FROM log_chunk
   WHERE run_id = $1::bigint AND fence = $2::bigint AND chunk >= $3::int AND chunk < $4::int
     AND (trigrams IS NULL OR NOT EXISTS (
           SELECT FROM unnest($5::int[]) AS bit WHERE get_bit(trigrams, bit) = 0))
   ORDER BY chunk`,
}

export async function appendLog(
  db: Database,
  chunks: readonly LogChunk[],
): Promise<readonly LogVerdict[]> {
  if (chunks.length === 0) return []
  // In a fixed order, so that two nodes never wait for each other's leases.
  const order = [...chunks.keys()].sort((a, b) => chunks[a]!.runId - chunks[b]!.runId)
  const sorted = order.map((index) => chunks[index]!)
  const rows = await transact(
    db.reading,
    (tx) =>
      tx.query<{ nth: number; stored: number }>(APPEND, [
        bigints(sorted.map(({ runId }) => runId)),
        bigints(sorted.map(({ fence }) => fence)),
        ints(sorted.map(({ chunk }) => chunk)),
        ints(sorted.map(({ lines }) => lines)),
        bytes(sorted.map(({ trigrams }) => trigrams)),
        bytes(sorted.map(({ packed }) => packed)),
      ]),
    'single',
  )
  const verdicts = chunks.map((): LogVerdict => 'stale')
  for (const { nth, stored } of rows) verdicts[order[nth - 1]!] = { stored }
  return verdicts
}

export async function logChunks(
  db: Database,
  { runId, fence, from, limit }: Input<'logChunks'>,
): Promise<StoredChunk[]> {
  return read<StoredChunk>(pickLists(db), CHUNKS_FROM, [runId, fence, from, limit])
}

export async function logEnd(
  db: Database,
  { runId, fence }: { runId: number; fence: number },
): Promise<LogEnd> {
  const [row] = await read<LogEnd>(db.reading, LOG_END, [runId, fence])
  return row ?? { chunks: 0, lines: 0 }
}

export async function findLine(
  db: Database,
  { runId, fence, line }: Input<'findLine'>,
): Promise<number | null> {
  const [row] = await read<{ chunk: number }>(pickLists(db), FIND_LINE, [runId, fence, line])
  return row?.chunk ?? null
}

export async function chunksLike(
  db: Database,
  { runId, fence, from, to, bits }: Input<'chunksLike'>,
): Promise<number[]> {
  const values = [runId, fence, from, to, ints(bits)]
  const rows = await read<{ chunk: number }>(pickLists(db), CHUNKS_LIKE, values)
  return rows.map(({ chunk }) => chunk)
}
