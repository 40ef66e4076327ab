import type { QueueSettingsCache } from '../dispatch/queue-settings-cache.ts'
import type { LaneIndex } from '../dispatch/lanes/lane-index.ts'
import type { LoopStep } from '../loops/run-loop.ts'

/** Reads queue settings made on any node, and pauses or resumes lanes. */
export function refreshQueues(deps: {
  queueSettings: QueueSettingsCache
  laneIndex: LaneIndex
  kick: () => void
}): LoopStep {
  const { queueSettings, laneIndex, kick } = deps
  let followed: string | null = null
  return async () => {
    await queueSettings.refresh()
    // Other code refreshes the settings too: what counts is which rules the lane index has.
    if (queueSettings.rules !== followed) {
      followed = queueSettings.rules
      laneIndex.applyRules(queueSettings.rulesOf)
      kick()
    }
    return { more: false }
  }
}
