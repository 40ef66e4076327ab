import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { mkdir, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { runNpm } from './run-npm.ts'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))
const run = promisify(execFile)

/**
 * Extracts another commit into a folder, ready to run. It uses `git archive` instead of `git worktree`,
 * so a killed benchmark leaves nothing in the repository to clean up.
 */
export async function unpackCommit(commit: string, folder: string): Promise<void> {
  const archive = `${folder}.tar`
  await mkdir(folder)
  await git('archive', '--output', archive, commit)
  await run('tar', ['-xf', archive, '-C', folder])
  if (isCoveredBy(readLock(ROOT), readLock(folder))) {
    await symlink(join(ROOT, 'node_modules'), join(folder, 'node_modules'))
  } else {
    await runNpm(folder, ['ci'])
  }
}

/** Resolves a revision name to a commit id. */
export async function findCommit(name: string): Promise<string> {
  return git('rev-parse', '--verify', '--quiet', `${name}^{commit}`).catch(() => {
    throw new Error(`there is no commit ${name} in this repository`)
  })
}

/** One line with the commit's short id, date and subject. */
export function describeCommit(commit: string): Promise<string> {
  return git('log', '-1', '--date=short', '--format=%h of %ad, *%s*', commit)
}

/** The files below these paths that the working tree has changed or deleted since the commit. */
export async function changedSince(commit: string, paths: readonly string[]): Promise<string[]> {
  const names = await git('diff', '--name-only', '--diff-filter=MD', commit, '--', ...paths)
  return names.split('\n').filter((name) => name !== '')
}

async function git(...args: string[]): Promise<string> {
  return (await run('git', args, { cwd: ROOT })).stdout.trim()
}

interface Lockfile {
  readonly packages: Readonly<Record<string, { version?: string; integrity?: string }>>
}

function readLock(folder: string): Lockfile {
  return JSON.parse(readFileSync(join(folder, 'package-lock.json'), 'utf8')) as Lockfile
}

/** Whether our lockfile has every package of theirs in the same version. */
function isCoveredBy(ours: Lockfile, theirs: Lockfile): boolean {
  return Object.entries(theirs.packages)
    .filter(([path]) => path.startsWith('node_modules/'))
    .every(([path, { version, integrity }]) => {
      const same = ours.packages[path]
      return same !== undefined && same.version === version && same.integrity === integrity
    })
}
