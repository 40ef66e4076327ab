import { openLifelineFile } from './lifeline.ts'
import { type LauncherOptions, startLauncher } from './launcher.ts'
import type { Abilities } from './messages.ts'

/** Starts a launcher to find out what launchers can do on this machine. */
export async function probeLauncher(options: LauncherOptions = {}): Promise<Abilities> {
  const lifeline = openLifelineFile()
  try {
    const launcher = await startLauncher(lifeline.fd, options)
    launcher.close()
    await launcher.ended
    return launcher.abilities
  } finally {
    lifeline.close()
  }
}
