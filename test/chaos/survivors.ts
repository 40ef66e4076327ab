import { readdirSync, readFileSync } from 'node:fs'

/**
 * Processes of first attempts of these runs that are alive, by what the machine itself says of every
 * process: the environment it was given, or arguments that name the attempt (`run_….1`). Deliberately
 * not the product's own way of finding them, which it is to judge.
 */
export function survivorsOf(runs: readonly string[]): number[] {
  const wanted = new Set(runs)
  return readdirSync('/proc').flatMap((entry) => {
    if (!/^\d+$/.test(entry) || Number(entry) === process.pid) return []
    const run =
      runIn(read(entry, 'environ')) ?? /run_\w+(?=\.1\b)/.exec(read(entry, 'cmdline'))?.[0]
    return run !== undefined && wanted.has(run) ? [Number(entry)] : []
  })
}

function runIn(environ: string): string | undefined {
  if (!environ.includes('PUNCTUAL_ATTEMPT=1\0')) return undefined
  return /PUNCTUAL_RUN_ID=(run_\w+)/.exec(environ)?.[1]
}

/** Nothing of a process that is gone, or dead and waiting to be noticed. */
function read(pid: string, file: string): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'latin1')
  } catch {
    return ''
  }
}
