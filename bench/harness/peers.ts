import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const BENCH = new URL('../', import.meta.url)

/** The rivals are not dependencies of the product: they are installed when somebody measures them. */
export async function installPeers(): Promise<void> {
  if (arePeersInstalled()) return
  const folder = fileURLToPath(BENCH)
  console.error(`The peers are not installed yet: npm ci --prefix ${folder}`)
  const args = ['ci', '--prefix', folder, '--ignore-scripts']
  // Under `npm run` this is the npm that started us, whatever else is on the path.
  const npm = process.env['npm_execpath']
  const child = npm
    ? spawn(process.execPath, [npm, ...args], { stdio: ['ignore', 2, 2] })
    : spawn('npm', args, { stdio: ['ignore', 2, 2] })
  const [code] = (await once(child, 'exit')) as [number | null]
  if (code !== 0) throw new Error(`npm ci --prefix ${folder} failed`)
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
