import type { Dialect } from 'model-gateway/surface'
import { memberTexts } from '../_shared/member-texts.ts'
import { replyList, replyObject } from '../_shared/reply-list.ts'
import { collectImages, createImagesStream, tellImages } from './stream.ts'
import { imagesUsage } from './usage.ts'

export const IMAGES = 'images'

/** Image generation: https://platform.openai.com/docs/api-reference/images */
export const images: Dialect = {
  id: IMAGES,
  namesModel: false,
  readReply(value) {
    const body = replyObject(value)
    const list = replyList(body, ['data'], imagesUsage(body, 0))
    return { usage: imagesUsage(body, list.length), invokedToolCount: undefined }
  },
  streaming: {
    open: createImagesStream,
    collect: collectImages,
    tell: tellImages,
    // Images contain no text.
    textOf: () => '',
  },
  views: {
    replyTexts: (body) => memberTexts(body, ['data'], ['revised_prompt']),
  },
}
