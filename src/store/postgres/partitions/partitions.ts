import type { Connection } from '../connection/connection.ts'
import { sqlStateOf } from '../connection/store-errors.ts'
import { read, transact } from '../connection/transaction.ts'
import {
  atticName,
  firstIdOfWeek,
  HISTORY,
  partitionName,
  partitionStatements,
  weekOfId,
} from './weeks.ts'

/**
 * Weeks that have partitions, and the first week after the attic. The attic is the partition of all
 * older ids.
 */
export interface KnownPartitions {
  readonly weeks: ReadonlySet<number>
  readonly atticEnd: number
}

const READ_PARTITIONS = {
  name: 'read-partitions',
  text: `
  SELECT child.relname AS name, pg_get_expr(child.relpartbound, child.oid) AS bound
    FROM pg_inherits JOIN pg_class child ON child.oid = inhrelid
   WHERE inhparent = 'run'::regclass`,
}
/** The table, its row type, or its range of ids: whichever another node created first. */
const ALREADY_THERE = new Set(['42P07', '42710', '23505', '42P17'])

export async function readWeeks(connection: Connection): Promise<KnownPartitions> {
  const rows = await read<{ name: string; bound: string }>(connection, READ_PARTITIONS)
  const attic = rows.find(({ name }) => name === atticName('run'))
  const atticEnd = weekOfId(Number(/TO \('(\d+)'\)/.exec(attic?.bound ?? '')?.[1] ?? 0))
  const weeks = rows.flatMap(({ name }) => {
    const week = /^run_w(\d+)$/.exec(name)?.[1]
    return week === undefined ? [] : [Number(week)]
  })
  return { weeks: new Set(weeks), atticEnd }
}

/**
 * Creates the partitions of these weeks, all or none. Returns false when another node created one
 * of them at the same moment: then read again which are missing.
 */
export async function createWeeks(
  connection: Connection,
  weeks: readonly number[],
): Promise<boolean> {
  const statements = weeks.flatMap((week) => {
    const range = [firstIdOfWeek(week), firstIdOfWeek(week + 1)] as const
    return HISTORY.flatMap((one) => partitionStatements(one, partitionName(one.table, week), range))
  })
  try {
    await transact(connection, async (tx) => {
      await Promise.all(statements.map((text) => tx.query({ name: '', text })))
    })
    return true
  } catch (error) {
    if (ALREADY_THERE.has(sqlStateOf(error) ?? '')) return false
    throw error
  }
}
