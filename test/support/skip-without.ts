import { spawnSync } from 'node:child_process'

/**
 * For `skip`: false where the tool is installed, otherwise a sentence that says how to install it. `npm ci`
 * does not install tools that not every user needs; `.ci/run` installs all of them.
 */
export function skipWithout(tool: string, debianPackage = tool): string | false {
  const { error } = spawnSync(tool, ['--version'], { stdio: 'ignore' })
  return error !== undefined && `needs ${tool} (Debian: apt install ${debianPackage})`
}
