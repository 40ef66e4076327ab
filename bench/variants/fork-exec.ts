import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { compileCached } from '../../src/worker/launcher/native-build.ts'
import { measureAndExit, readVariantSettings } from '../harness/variant-process.ts'

export interface ForkExecSettings {
  readonly concurrency: number
  readonly warmUpSeconds: number
  readonly seconds: number
}

const SOURCE = fileURLToPath(new URL('fork-exec.c', import.meta.url))
const CACHE = fileURLToPath(new URL('../../node_modules/.cache/punctual-bench', import.meta.url))

/** Measures the ceiling of this machine: a loop in C that forks, execs and waits. */
measureAndExit(async () => {
  const { concurrency, warmUpSeconds, seconds } = readVariantSettings() as ForkExecSettings
  const program = await compileCached([SOURCE], { cache: CACHE, flags: ['-O2', '-static'] })
  const args = [concurrency, warmUpSeconds, seconds].map(String)
  const { stdout } = await promisify(execFile)(program, args)
  const [ended = NaN, took = NaN] = stdout.trim().split(' ').map(Number)
  return { runsPerSecond: ended / took }
})
