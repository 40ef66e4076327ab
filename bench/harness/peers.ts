import { existsSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { npm } from './run-npm.ts'

const BENCH = new URL('../', import.meta.url)

/** The rivals are not dependencies of the product: they are installed when somebody measures them. */
export async function installPeers(): Promise<void> {
  if (arePeersInstalled()) return
  const folder = fileURLToPath(BENCH)
  console.error(`The peers are not installed yet: npm install --no-save --prefix ${folder}`)
  // By the lockfile, like `npm ci`; which refuses a lockfile without what peers have for other systems only.
  await npm(folder, ['install', '--no-save', '--ignore-scripts'])
}

/** Present and the very versions of the lockfile: a figure names the version it was measured with. */
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
