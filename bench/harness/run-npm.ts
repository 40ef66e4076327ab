import { spawn } from 'node:child_process'
import { once } from 'node:events'

/** Runs npm in a folder; its output goes to stderr, like the progress lines. */
export async function runNpm(folder: string, args: readonly string[]): Promise<void> {
  // `npm run` sets npm_execpath to the npm that started this process; it may differ from the one on the PATH.
  const npmPath = process.env['npm_execpath']
  const [file, ...first] = npmPath ? [process.execPath, npmPath] : ['npm']
  const child = spawn(file, [...first, ...args], {
    cwd: folder,
    stdio: ['ignore', 2, 2],
  })
  const [code] = (await once(child, 'exit')) as [number | null]
  if (code !== 0) throw new Error(`npm ${args.join(' ')} failed in ${folder}`)
}
