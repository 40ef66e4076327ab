import type { NewRun, SubmitVerdict } from '../../port.ts'
import { bigints, ints, texts } from '../connection/binary-arrays.ts'
import { CLOCK, type Work } from '../connection/statement.ts'
import { readMinters, verdictOnKnown } from './submit.ts'

/** No run has this id: the row of a key that is locked but not taken. */
const NOBODY = 0

/**
 * Locks each key, making a row for it if there is none, and tells who has it. Whoever submits the
 * same key at the same time waits here until we are done, so exactly one of us sees it free.
 */
const LOCK_IDEMPOTENCY = {
  name: 'lock-idempotency',
  text: `
  WITH ${CLOCK},
  held AS (
    INSERT INTO idempotency AS i (project_id, key, digest, run_id, until)
    SELECT project_id, key, '', ${NOBODY}, 0
      FROM unnest($2::int[], $3::text[]) AS t (project_id, key)
        ON CONFLICT (project_id, key) DO UPDATE SET until = i.until
    RETURNING project_id, key, digest, run_id, until)
  SELECT held.project_id AS "projectId", held.key, held.digest, held.run_id AS "runId", until, now
    FROM held CROSS JOIN clock`,
}
const LOCK_DEDUPE = {
  name: 'lock-dedupe',
  text: `
  INSERT INTO dedupe AS d (project_id, key, run_id)
  SELECT project_id, key, ${NOBODY} FROM unnest($1::int[], $2::text[]) AS t (project_id, key)
      ON CONFLICT (project_id, key) DO UPDATE SET run_id = d.run_id
  RETURNING project_id AS "projectId", key, run_id AS "runId"`,
}
const TAKE_IDEMPOTENCY = {
  name: 'take-idempotency',
  text: `
  INSERT INTO idempotency (project_id, key, digest, run_id, until)
  SELECT * FROM unnest($1::int[], $2::text[], $3::text[], $4::bigint[], $5::bigint[])
      ON CONFLICT (project_id, key)
      DO UPDATE SET digest = excluded.digest, run_id = excluded.run_id, until = excluded.until`,
}
const TAKE_DEDUPE = {
  name: 'take-dedupe',
  text: `
  INSERT INTO dedupe (project_id, key, run_id)
  SELECT * FROM unnest($1::int[], $2::text[], $3::bigint[])
      ON CONFLICT (project_id, key) DO UPDATE SET run_id = excluded.run_id`,
}
const dropUntaken = (table: 'idempotency' | 'dedupe') => ({
  name: `drop-untaken-${table}`,
  text: `
  DELETE FROM ${table} WHERE ctid = ANY (ARRAY(
    SELECT held.ctid FROM unnest($1::int[], $2::text[]) AS t (project_id, key)
     CROSS JOIN LATERAL (
       SELECT ctid FROM ${table} k
        WHERE k.project_id = t.project_id AND k.key = t.key AND k.run_id = ${NOBODY} LIMIT 1) held))`,
})
const DROP_IDEMPOTENCY = dropUntaken('idempotency')
const DROP_DEDUPE = dropUntaken('dedupe')

interface Key {
  readonly projectId: number
  readonly key: string
}
interface Idempotency extends Key {
  readonly runId: number
  readonly digest: string
  readonly until: number
}
interface Dedupe extends Key {
  readonly runId: number
}

export function isKeyed(run: NewRun): boolean {
  return run.dedupeKey !== null || run.idempotency !== null
}

/**
 * Decides which of these runs may be inserted as far as keys are concerned, and takes their keys.
 * Returns the verdicts on those that may not; they leave nothing behind.
 */
export async function takeKeys(
  work: Work,
  now: number | null,
  node: number,
  runs: readonly NewRun[],
): Promise<Map<number, SubmitVerdict>> {
  const idempotencyKeys = sortedKeys(runs, (run) => run.idempotency?.key)
  const dedupeKeys = sortedKeys(runs, (run) => run.dedupeKey)
  const [minters, idempotencies, dedupes] = await Promise.all([
    readMinters(
      work,
      runs.map(({ id }) => id),
    ),
    lock<Idempotency & { now: number }>(work, LOCK_IDEMPOTENCY, idempotencyKeys, [now]),
    lock<Dedupe>(work, LOCK_DEDUPE, dedupeKeys, []),
  ])
  const ledger: Ledger = {
    now: idempotencies[0]?.now ?? 0,
    idempotency: new Map(idempotencies.map((row) => [nameOf(row), row])),
    dedupe: new Map(dedupes.map((row) => [nameOf(row), row])),
  }
  const refused = new Map<number, SubmitVerdict>()
  const taken: NewRun[] = []
  for (const run of runs) {
    const verdict = minters.has(run.id)
      ? verdictOnKnown(minters.get(run.id), node)
      : consult(ledger, run)
    if (verdict) refused.set(run.id, verdict)
    else taken.push(run)
  }
  await Promise.all([
    ...writeKeys(work, taken),
    drop(work, DROP_IDEMPOTENCY, idempotencyKeys),
    drop(work, DROP_DEDUPE, dedupeKeys),
  ])
  return refused
}

interface Ledger {
  readonly now: number
  readonly idempotency: Map<string, Idempotency>
  readonly dedupe: Map<string, Dedupe>
}

/** One run after the other, as if each were alone: a key taken by the first is held for the second. */
function consult(ledger: Ledger, run: NewRun): SubmitVerdict | undefined {
  const { id, projectId, idempotency, dedupeKey } = run
  const idempotencyName = idempotency && nameOf({ projectId, key: idempotency.key })
  const earlier = idempotencyName === null ? undefined : ledger.idempotency.get(idempotencyName)
  if (idempotency && earlier && earlier.runId !== NOBODY && earlier.until > ledger.now) {
    // Our own insertion, committed while we waited for the key.
    if (earlier.runId === id) return { kind: 'exists' }
    const isRepeat = earlier.digest === idempotency.digest
    return { kind: isRepeat ? 'duplicate' : 'mismatch', id: earlier.runId }
  }
  const dedupeName = dedupeKey === null ? null : nameOf({ projectId, key: dedupeKey })
  const holder = dedupeName === null ? undefined : ledger.dedupe.get(dedupeName)
  if (holder && holder.runId !== NOBODY) {
    return holder.runId === id ? { kind: 'exists' } : { kind: 'duplicate', id: holder.runId }
  }
  if (idempotency && idempotencyName !== null) {
    ledger.idempotency.set(idempotencyName, { ...idempotency, projectId, runId: id })
  }
  if (dedupeKey !== null && dedupeName !== null) {
    ledger.dedupe.set(dedupeName, { projectId, key: dedupeKey, runId: id })
  }
  return undefined
}

function writeKeys(work: Work, taken: readonly NewRun[]): Promise<unknown>[] {
  const writes: Promise<unknown>[] = []
  const idempotent = taken.flatMap((run) => (run.idempotency ? [{ ...run.idempotency, run }] : []))
  if (idempotent.length > 0) {
    writes.push(
      work.query(TAKE_IDEMPOTENCY, [
        ints(idempotent.map(({ run }) => run.projectId)),
        texts(idempotent.map(({ key }) => key)),
        texts(idempotent.map(({ digest }) => digest)),
        bigints(idempotent.map(({ run }) => run.id)),
        bigints(idempotent.map(({ until }) => until)),
      ]),
    )
  }
  const deduped = taken.filter(({ dedupeKey }) => dedupeKey !== null)
  if (deduped.length > 0) {
    writes.push(
      work.query(TAKE_DEDUPE, [
        ints(deduped.map(({ projectId }) => projectId)),
        texts(deduped.map(({ dedupeKey }) => dedupeKey)),
        bigints(deduped.map(({ id }) => id)),
      ]),
    )
  }
  return writes
}

async function lock<Row>(
  work: Work,
  statement: typeof LOCK_DEDUPE,
  keys: readonly Key[],
  before: readonly unknown[],
): Promise<Row[]> {
  return keys.length === 0 ? [] : work.query<Row>(statement, [...before, ...columns(keys)])
}

async function drop(
  work: Work,
  statement: typeof DROP_DEDUPE,
  keys: readonly Key[],
): Promise<void> {
  if (keys.length > 0) await work.query(statement, columns(keys))
}

function columns(keys: readonly Key[]): unknown[] {
  return [ints(keys.map(({ projectId }) => projectId)), texts(keys.map(({ key }) => key))]
}

/** Each key once and in an order all nodes agree on, so that two of them never wait for each other. */
function sortedKeys(
  runs: readonly NewRun[],
  keyOf: (run: NewRun) => string | null | undefined,
): Key[] {
  const byName = new Map<string, Key>()
  for (const run of runs) {
    const key = keyOf(run)
    if (key == null) continue
    const named = { projectId: run.projectId, key }
    byName.set(nameOf(named), named)
  }
  return [...byName].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, key]) => key)
}

function nameOf({ projectId, key }: Key): string {
  return `${projectId} ${key}`
}
