import { join } from 'node:path'
import type { Workbench } from '../harness/environment.ts'

export async function freshSqlite(bench: Workbench): Promise<string> {
  return `sqlite:${join(await bench.directory(), 'punctual.db')}`
}

export function freshStore(bench: Workbench, kind: 'sqlite' | 'postgres'): Promise<string> {
  return kind === 'sqlite' ? freshSqlite(bench) : bench.database()
}

/** Lets a variant see how much of the work the database does. */
export function databasePid(
  { postgres }: Workbench,
  kind: 'sqlite' | 'postgres',
): { postgresPid?: number } {
  return kind === 'postgres' && postgres ? { postgresPid: postgres.pid } : {}
}
