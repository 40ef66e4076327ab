import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { System, SystemSettings } from './system.ts'

export interface TreeSettings extends SystemSettings {
  /** The working tree whose system is measured. */
  readonly tree: string
}

/** Opens the system with the code of the given working tree. */
export async function openSystemOf(settings: TreeSettings): Promise<System> {
  const file = pathToFileURL(join(settings.tree, 'bench/systems/open.ts')).href
  const { openSystem } = (await import(file)) as {
    openSystem(settings: SystemSettings): Promise<System>
  }
  return openSystem(settings)
}
