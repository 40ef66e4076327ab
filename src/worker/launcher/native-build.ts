import { execFile } from 'node:child_process'
import { hash } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

const at = (path: string) => fileURLToPath(new URL(path, import.meta.url))

/** All C files and headers of the native launcher. Exists only in a checkout. */
const SOURCES = at('../../../native')
const CACHE = at('../../../node_modules/.cache/punctual')

const STRICT = ['-std=c11', '-O2', '-Wall', '-Wextra', '-Wmissing-prototypes', '-Werror']

export const FLAGS = {
  /** Needs no library of the machine it runs on. */
  portable: [...STRICT, '-static', '-s'],
  /** Aborts with a report on any invalid memory access. */
  sanitized: [...STRICT, '-g', '-fsanitize=address,undefined', '-fno-sanitize-recover=all'],
} as const

export const hasLauncherSources = () => existsSync(SOURCES)

/** The path of the native launcher, compiled with these flags. */
export function compileLauncher(flags: readonly string[]): Promise<string> {
  const names = readdirSync(SOURCES).filter((name) => /\.[ch]$/.test(name))
  const sources = names.toSorted().map((name) => join(SOURCES, name))
  return compileCached(sources, { cache: CACHE, flags })
}

/**
 * Compiles to a temporary file and renames it, so that concurrent readers never see half a program.
 */
async function runCompiler(sources: readonly string[], path: string, flags: readonly string[]) {
  mkdirSync(dirname(path), { recursive: true })
  const draft = `${path}.${process.pid}.${crypto.randomUUID()}`
  try {
    const files = sources.filter((source) => source.endsWith('.c'))
    await promisify(execFile)('cc', [...flags, '-o', draft, ...files])
    renameSync(draft, path)
  } finally {
    rmSync(draft, { force: true })
  }
}

/** Compiles once per version of the sources, C files and headers, and returns the path of the program. */
export async function compileCached(
  sources: readonly string[],
  { cache, flags }: { cache: string; flags: readonly string[] },
): Promise<string> {
  const texts = sources.map((source) => [basename(source), readFileSync(source, 'utf8')])
  const key = hash('sha256', JSON.stringify([flags, texts])).slice(0, 16)
  const path = join(cache, `launcher-${process.platform}-${process.arch}-${key}`)
  if (!existsSync(path)) await runCompiler(sources, path, flags)
  return path
}
