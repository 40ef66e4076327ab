import { createHash } from 'node:crypto'
import { existsSync, readFileSync, realpathSync, statSync } from 'node:fs'
import { hostname } from 'node:os'
import { basename, dirname, join, relative, resolve } from 'node:path'

export interface Source {
  readonly name: string
  /** What it was called when names alone had to do. Others may have been called the same. */
  readonly older?: string
}

/**
 * What a folder of jobs is called, so that the server knows which jobs are its own: a name for people, and
 * a digest, because others have folders called `jobs`, too. Of what: where the repository comes from, which
 * is the same wherever it was checked out; without that, where the folder is. Undefined for anything
 * but one folder.
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
  return { name: `${older}#${digest}`, older }
}

function repositoryOf(folder: string): string | undefined {
  for (let at = folder; dirname(at) !== at; at = dirname(at)) {
    if (existsSync(join(at, '.git'))) return at
  }
  return undefined
}

/** Where the repository comes from, however one reaches it: `git@host:a/b.git` is `https://host/a/b`. */
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

/** Further work trees have a file in its place, which says where it is. */
function gitFolderOf(root: string): string {
  const git = join(root, '.git')
  if (statSync(git).isDirectory()) return git
  const [, said = ''] = /^gitdir: (.+)$/m.exec(readFileSync(git, 'utf8')) ?? []
  const own = resolve(root, said)
  const common = join(own, 'commondir')
  return existsSync(common) ? resolve(own, readFileSync(common, 'utf8').trim()) : own
}
