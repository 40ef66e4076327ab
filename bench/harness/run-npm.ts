import { spawn } from 'node:child_process'
import { once } from 'node:events'

/** Runs npm in a folder; what it prints goes with our progress. */
export async function npm(folder: string, args: readonly string[]): Promise<void> {
  // Under `npm run` this is the npm that started us, whatever else is on the path.
  const own = process.env['npm_execpath']
  const [file, ...first] = own ? [process.execPath, own] : ['npm']
  const child = spawn(file, [...first, ...args], {
    cwd: folder,
    stdio: ['ignore', 2, 2],
  })
  const [code] = (await once(child, 'exit')) as [number | null]
  if (code !== 0) throw new Error(`npm ${args.join(' ')} failed in ${folder}`)
}
