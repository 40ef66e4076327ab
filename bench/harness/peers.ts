import { existsSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { runNpm } from './run-npm.ts'

const BENCH = new URL('../', import.meta.url)

/** Installs the peers if needed: they are dependencies of the benchmark only, not of the product. */
export async function installPeers(): Promise<void> {
  if (arePeersInstalled()) return
  const folder = fileURLToPath(BENCH)
  console.error(`The peers are not installed yet: npm install --no-save --prefix ${folder}`)
  // Installs by the lockfile. `npm ci` would refuse it, because it lacks optional packages of other platforms.
  await runNpm(folder, ['install', '--no-save', '--ignore-scripts'])
}

/** Whether every peer is installed in the pinned version: reports name the versions they were measured with. */
function arePeersInstalled(): boolean {
  const { dependencies } = readJson('package.json') as { dependencies: Record<string, string> }
  return Object.entries(dependencies).every(([name, version]) => {
    const manifest = `node_modules/${name}/package.json`
    if (!existsSync(new URL(manifest, BENCH))) return false
    return (readJson(manifest) as { version: string }).version === version
  })
}

function readJson(path: string): unknown {
  return JSON.parse(readFileSync(new URL(path, BENCH), 'utf8'))
}
