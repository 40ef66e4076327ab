import { openLifelineFile } from './lifeline.ts'
import { type LauncherOptions, startLauncher } from './launcher.ts'
import type { Abilities } from './messages.ts'

/** What launchers can do on this machine, found by starting one. */
export async function probeLauncher(options: LauncherOptions = {}): Promise<Abilities> {
  const lifeline = openLifelineFile()
  try {
    const launcher = await startLauncher(lifeline.fd, options)
    launcher.close()
    await launcher.gone
    return launcher.abilities
  } finally {
    lifeline.close()
  }
}
