import { spawnSync } from 'node:child_process'

/**
 * For `skip`: false where the tool is there, otherwise the sentence that says how to get it. What is
 * not asked for by every user is not installed by `npm ci`; `.ci/run` brings all of it.
 */
export function without(tool: string, debianPackage = tool): string | false {
  const { error } = spawnSync(tool, ['--version'], { stdio: 'ignore' })
  return error !== undefined && `needs ${tool} (Debian: apt install ${debianPackage})`
}
