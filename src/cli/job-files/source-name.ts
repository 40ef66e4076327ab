import { createHash } from 'node:crypto'
import { existsSync, readFileSync, realpathSync, statSync } from 'node:fs'
import { hostname } from 'node:os'
import { basename, dirname, join, relative, resolve } from 'node:path'

export interface Source {
  readonly name: string
  /** The name used before digests were added. Other folders may have had the same name. */
  readonly legacyName?: string
}

/**
 * Names a folder of jobs, so that the server can select the jobs that belong to it: a readable name plus a
 * digest, because other folders may be called `jobs`, too. The digest is that of the repository's
 * origin, which is the same in every checkout, or else of the folder's path. Undefined for anything
 * but a single folder.
 */
export function sourceOf(paths: readonly string[], cwd: string): Source | undefined {
  const [path = '.', second] = paths
  const folder = resolve(cwd, path)
  const isFolder = statSync(folder, { throwIfNoEntry: false })?.isDirectory() ?? false
  if (second !== undefined || !isFolder) return undefined
  const root = repositoryOf(folder)
  const older =
    root === undefined
      ? basename(folder)
      : join(basename(root), relative(root, folder)).replaceAll('\\', '/')
  const origin = root === undefined ? undefined : originOf(root)
  const place = origin ?? `${hostname()}:${realpathSync(root ?? folder)}`
  const digest = createHash('sha256').update(place).digest('hex').slice(0, 8)
  return { name: `${older}#${digest}`, legacyName: older }
}

function repositoryOf(folder: string): string | undefined {
  for (let at = folder; dirname(at) !== at; at = dirname(at)) {
    if (existsSync(join(at, '.git'))) return at
  }
  return undefined
}

/**
 * The repository's origin, independent of the protocol: `git@host:a/b.git` is `https://host/a/b`.
 */
function originOf(root: string): string | undefined {
  try {
    const config = readFileSync(join(gitFolderOf(root), 'config'), 'utf8')
    const [, url] = /^\s*\[remote "origin"\][^[]*?^\s*url\s*=\s*(\S+)\s*$/m.exec(config) ?? []
    return url
      ?.replace(/^\w[\w+.-]*:\/\//, '')
      .replace(/^[^@/]*@/, '')
      .replace(/:(?:\d+\/)?/, '/')
      .replace(/(?:\.git)?\/?$/, '')
  } catch {
    return undefined
  }
}

/** In additional work trees, `.git` is a file that contains the path. */
function gitFolderOf(root: string): string {
  const git = join(root, '.git')
  if (statSync(git).isDirectory()) return git
  const [, gitdir = ''] = /^gitdir: (.+)$/m.exec(readFileSync(git, 'utf8')) ?? []
  const own = resolve(root, gitdir)
  const common = join(own, 'commondir')
  return existsSync(common) ? resolve(own, readFileSync(common, 'utf8').trim()) : own
}
