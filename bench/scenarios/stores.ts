import { join } from 'node:path'
import type { BenchEnvironment } from '../harness/environment.ts'

export async function freshSqlite(bench: BenchEnvironment): Promise<string> {
  return `sqlite:${join(await bench.directory(), 'punctual.db')}`
}

export function freshStore(bench: BenchEnvironment, kind: 'sqlite' | 'postgres'): Promise<string> {
  return kind === 'sqlite' ? freshSqlite(bench) : bench.database()
}

/** Lets a variant measure the database's processor time. */
export function databasePid(
  { postgres }: BenchEnvironment,
  kind: 'sqlite' | 'postgres',
): { postgresPid?: number } {
  return kind === 'postgres' && postgres ? { postgresPid: postgres.pid } : {}
}
