import type { NewRun, SubmitVerdict } from '../../port.ts'
import { bigints, ints, texts } from '../connection/binary-arrays.ts'
import type { Queryable } from '../connection/statement.ts'
import { readMinters, verdictOnKnown } from './submit.ts'

/** No run has this id: it marks a key row that is locked but not taken. */
const NO_RUN = 0

/**
 * A key is valid until maintenance deletes it, which waits while the clock is in doubt. Locks each
 * key, inserting a row if there is none, and returns its holder. Concurrent submissions with the
 * same key wait here until this transaction ends, so exactly one of them finds the key free.
 */
const LOCK_IDEMPOTENCY = {
  name: 'lock-idempotency',
  text: `
  INSERT INTO idempotency AS i (project_id, key, digest, run_id, until)
  SELECT project_id, key, '', ${NO_RUN}, 0 FROM unnest($1::int[], $2::text[]) AS t (project_id, key)
      ON CONFLICT (project_id, key) DO UPDATE SET until = i.until
  RETURNING project_id AS "projectId", key, digest, run_id AS "runId"`,
}
const LOCK_DEDUPE = {
  name: 'lock-dedupe',
  text: `
  INSERT INTO dedupe AS d (project_id, key, run_id)
  SELECT project_id, key, ${NO_RUN} FROM unnest($1::int[], $2::text[]) AS t (project_id, key)
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
        WHERE k.project_id = t.project_id AND k.key = t.key AND k.run_id = ${NO_RUN} LIMIT 1) held))`,
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
}
interface Dedupe extends Key {
  readonly runId: number
}

export function isKeyed(run: NewRun): boolean {
  return run.dedupeKey !== null || run.idempotency !== null
}

/**
 * Decides which of these runs may be inserted as far as keys are concerned, and takes their keys.
 * Returns the verdicts on the others; they leave no rows behind.
 */
export async function takeKeys(
  tx: Queryable,
  node: number,
  runs: readonly NewRun[],
): Promise<Map<number, SubmitVerdict>> {
  const idempotencyKeys = sortedKeys(runs, (run) => run.idempotency?.key)
  const dedupeKeys = sortedKeys(runs, (run) => run.dedupeKey)
  const [minters, idempotencies, dedupes] = await Promise.all([
    readMinters(
      tx,
      runs.map(({ id }) => id),
    ),
    lock<Idempotency>(tx, LOCK_IDEMPOTENCY, idempotencyKeys),
    lock<Dedupe>(tx, LOCK_DEDUPE, dedupeKeys),
  ])
  const ledger: LockedKeys = {
    idempotency: new Map(idempotencies.map((row) => [nameOf(row), row])),
    dedupe: new Map(dedupes.map((row) => [nameOf(row), row])),
  }
  const refused = new Map<number, SubmitVerdict>()
  const taken: NewRun[] = []
  for (const run of runs) {
    const verdict = minters.has(run.id)
      ? verdictOnKnown(minters.get(run.id), node)
      : checkKeys(ledger, run)
    if (verdict) refused.set(run.id, verdict)
    else taken.push(run)
  }
  await Promise.all([
    ...writeKeys(tx, taken),
    drop(tx, DROP_IDEMPOTENCY, idempotencyKeys),
    drop(tx, DROP_DEDUPE, dedupeKeys),
  ])
  return refused
}

interface LockedKeys {
  readonly idempotency: Map<string, Idempotency>
  readonly dedupe: Map<string, Dedupe>
}

/**
 * One run after the other, as if each were alone: a key taken by the first conflicts with the
 * second.
 */
function checkKeys(ledger: LockedKeys, run: NewRun): SubmitVerdict | undefined {
  const { id, projectId, idempotency, dedupeKey } = run
  const idempotencyName = idempotency && nameOf({ projectId, key: idempotency.key })
  const earlier = idempotencyName === null ? undefined : ledger.idempotency.get(idempotencyName)
  if (idempotency && earlier && earlier.runId !== NO_RUN) {
    // This node's own insertion, committed while we waited for the key.
    if (earlier.runId === id) return { kind: 'exists' }
    const isRepeat = earlier.digest === idempotency.digest
    return { kind: isRepeat ? 'duplicate' : 'mismatch', id: earlier.runId }
  }
  const dedupeName = dedupeKey === null ? null : nameOf({ projectId, key: dedupeKey })
  const holder = dedupeName === null ? undefined : ledger.dedupe.get(dedupeName)
  if (holder && holder.runId !== NO_RUN) {
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

function writeKeys(tx: Queryable, taken: readonly NewRun[]): Promise<unknown>[] {
  const writes: Promise<unknown>[] = []
  const idempotent = taken.flatMap((run) => (run.idempotency ? [{ ...run.idempotency, run }] : []))
  if (idempotent.length > 0) {
    writes.push(
      tx.query(TAKE_IDEMPOTENCY, [
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
      tx.query(TAKE_DEDUPE, [
        ints(deduped.map(({ projectId }) => projectId)),
        texts(deduped.map(({ dedupeKey }) => dedupeKey)),
        bigints(deduped.map(({ id }) => id)),
      ]),
    )
  }
  return writes
}

async function lock<Row>(
  tx: Queryable,
  statement: typeof LOCK_DEDUPE,
  keys: readonly Key[],
): Promise<Row[]> {
  return keys.length === 0 ? [] : tx.query<Row>(statement, columns(keys))
}

async function drop(
  tx: Queryable,
  statement: typeof DROP_DEDUPE,
  keys: readonly Key[],
): Promise<void> {
  if (keys.length > 0) await tx.query(statement, columns(keys))
}

function columns(keys: readonly Key[]): unknown[] {
  return [ints(keys.map(({ projectId }) => projectId)), texts(keys.map(({ key }) => key))]
}

/** Each key once and in a fixed order, so that two nodes never wait for each other. */
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
