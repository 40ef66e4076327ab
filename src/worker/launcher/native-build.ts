import { execFile } from 'node:child_process'
import { hash } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'

const STRICT = ['-std=c11', '-O2', '-Wall', '-Wextra', '-Werror']

export const FLAGS = {
  /** Needs no library of the machine it runs on. */
  portable: [...STRICT, '-static', '-s'],
  /** Aborts with a report on any invalid memory access. */
  sanitized: [...STRICT, '-g', '-fsanitize=address,undefined', '-fno-sanitize-recover=all'],
} as const

/**
 * Compiles to a temporary file and renames it, so that concurrent readers never see half a program.
 */
export async function compile(source: string, path: string, flags: readonly string[]) {
  mkdirSync(dirname(path), { recursive: true })
  const draft = `${path}.${process.pid}.${crypto.randomUUID()}`
  try {
    await promisify(execFile)('cc', [...flags, '-o', draft, source])
    renameSync(draft, path)
  } finally {
    rmSync(draft, { force: true })
  }
}

/** Compiles once per version of the source, and returns the path of the program. */
export async function compiled(
  source: string,
  { cache, flags }: { cache: string; flags: readonly string[] },
): Promise<string> {
  const key = hash('sha256', JSON.stringify([flags, readFileSync(source, 'utf8')])).slice(0, 16)
  const path = join(cache, `launcher-${process.platform}-${process.arch}-${key}`)
  if (!existsSync(path)) await compile(source, path, flags)
  return path
}
