import { parentPort, workerData } from 'node:worker_threads'
import { openReader } from '../connection/connection.ts'
import { toWire, translate } from '../connection/store-errors.ts'
import { inspectDatabase, type Position } from './inspect-database.ts'
import type { InspectMessage, InspectTask } from './inspector.ts'
import { mono } from '../connection/system-clock.ts'

/** The thread of one inspection: it may wait for the disk without delaying the server. */
function main(): void {
  const { path, from, wholeBytes, budgetMs } = workerData as InspectTask
  parentPort?.postMessage(look(path, from, { wholeBytes, budgetMs, mono }))
}

function look(
  path: string,
  from: Position | null,
  options: Parameters<typeof inspectDatabase>[2],
): InspectMessage {
  try {
    const db = openReader(path)
    try {
      return { kind: 'inspected', ...inspectDatabase(db, from, options) }
    } finally {
      db.close()
    }
  } catch (error) {
    return { kind: 'failed', failure: toWire(translate(error, 'work')) }
  }
}

main()
