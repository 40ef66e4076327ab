import { execFileSync, spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { skipWithout } from './skip-without.ts'

/** For `skip`: these tests start real containers, so they need podman and its tools. */
export const skipWithoutPodman =
  skipWithout('podman', 'podman runc busybox-static') ||
  skipWithout('runc', 'podman runc busybox-static') ||
  skipWithout('busybox', 'busybox-static') ||
  (process.getuid?.() !== 0 && 'needs root, for containers of a storage of its own')

/** Options podman needs on machines that restrict containers. */
export const ENGINE_ARGS = ['--runtime', 'runc', '--cgroup-manager', 'cgroupfs']
export const RUN_ARGS = ['--ulimit', 'nofile=1024:1024', '--ulimit', 'nproc=4096:4096']
export const IMAGE = 'localhost/busybox:1'

const TOOLS = ['sh', 'cat', 'cp', 'echo', 'env', 'head', 'id', 'ls', 'pwd', 'sleep', 'tail', 'true']

/** Storage for images and containers of this process alone, with one small image in it. */
export function openPodman() {
  const dir = mkdtempSync(join(tmpdir(), 'punctual-podman-'))
  const storage = join(dir, 'storage.conf')
  writeFileSync(
    storage,
    `[storage]\ndriver = "vfs"\nrunroot = "${dir}/run"\ngraphroot = "${dir}/graph"\n`,
  )
  const env = { CONTAINERS_STORAGE_CONF: storage }
  Object.assign(process.env, env)
  const root = join(dir, 'root')
  for (const name of ['bin', 'etc', 'tmp']) mkdirSync(join(root, name), { recursive: true })
  cpSync('/bin/busybox', join(root, 'bin/busybox'))
  for (const name of TOOLS) symlinkSync('busybox', join(root, 'bin', name))
  const rootfs = execFileSync('tar', ['-C', root, '-c', '.'], { maxBuffer: 64 * 1024 ** 2 })
  execFileSync('podman', ['import', '-', IMAGE], { input: rootfs, stdio: ['pipe', 'pipe', 'pipe'] })
  const ask = (...words: string[]) =>
    execFileSync('podman', [...ENGINE_ARGS, ...words], { encoding: 'utf8', stdio: 'pipe' }).trim()
  return {
    dir,
    env,
    ask,
    /** Names of all containers, running or not. */
    names: () =>
      ask('ps', '--all', '--format', '{{.Names}}')
        .split('\n')
        .filter((name) => name !== ''),
    close() {
      spawnSync('podman', [...ENGINE_ARGS, 'rm', '--all', '--force', '--time', '0'])
      rmSync(dir, { recursive: true, force: true, maxRetries: 20 })
    },
  }
}
