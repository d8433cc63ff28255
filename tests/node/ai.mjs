// Chat routes over the AI SDK as its users write them: version 6 for Next.js, for Express and with an agent; version 4.

import { createServer } from 'node:http';
import { Readable } from 'node:stream';
import { json } from 'node:stream/consumers';
import { setTimeout } from 'node:timers/promises';
import {
  ToolLoopAgent,
  convertToModelMessages,
  createAgentUIStreamResponse,
  createUIMessageStream,
  createUIMessageStreamResponse,
  simulateReadableStream,
  stepCountIs,
  streamText,
  tool,
} from 'ai';
import { MockLanguageModelV3 } from 'ai/test';
import * as ai4 from 'ai4';
import { MockLanguageModelV1 } from 'ai4/test';
import { z } from 'zod';
import { pieces, ready, said } from './story.mjs';

const ORDER = z.object({ number: z.number(), fields: z.array(z.string()).optional(), slow: z.boolean().optional() });

async function findOrder({ number, slow }) {
  if (number === 0) throw new Error('there is no order 0');
  if (slow) await setTimeout(20); // so that the call after it is answered first
  return { number, state: 'shipped' };
}

const TOOLS = {
  find_order: tool({
    inputSchema: ORDER,
    async *execute(order) {
      yield { state: 'looking' }; // a preliminary result
      yield await findOrder(order);
    },
  }),
  cancel_order: tool({ inputSchema: ORDER, execute: async () => ({ cancelled: true }), needsApproval: true }),
  locate: tool({ inputSchema: z.object({}) }), // the browser's
};

const TOOLS_4 = {
  find_order: ai4.tool({ parameters: ORDER, execute: findOrder }),
  locate: ai4.tool({ parameters: z.object({}) }),
};

/** What the model says next, in the order in which it streams it. */
function step(prompt, model) {
  const messages = prompt.map(({ role, content }) => ({ role, text: textOf(content) }));
  const { thought = '', text = '', calls = [], then, error, finish } = said(messages, model);
  if (error && !text) throw new Error(error);
  const called = prompt.at(-1).role === 'tool';
  return called
    ? { thought, text: then, calls: [], finish: 'stop' }
    : { thought, text, calls, error, finish: finish ?? (calls.length ? 'tool-calls' : 'stop') };
}

const textOf = (content) => (typeof content === 'string' ? content : content.map(({ text }) => text ?? '').join(''));

const streamed = (chunks) => simulateReadableStream({ chunks, initialDelayInMs: null, chunkDelayInMs: null });

const model = (modelId = 'a model') => new MockLanguageModelV3({
  modelId,
  doStream: async ({ prompt }) => {
    const { thought, text, calls, error, finish } = step(prompt, modelId);
    const part = (type, id, text) => [
      { type: `${type}-start`, id },
      ...pieces(text).map((delta) => ({ type: `${type}-delta`, id, delta })),
      { type: `${type}-end`, id },
    ];
    const stream = streamed([
      { type: 'stream-start', warnings: [] },
      ...(thought ? part('reasoning', 'r', thought) : []),
      ...(text ? part('text', 't', text) : []),
      ...(error ? [{ type: 'error', error: new Error(error) }] : []),
      ...calls.flatMap(({ id, name, args }) => {
        const input = JSON.stringify(args);
        const [start, ...rest] = part('tool-input', id, input);
        return [{ ...start, toolName: name }, ...rest, { type: 'tool-call', toolCallId: id, toolName: name, input }];
      }),
      {
        type: 'finish',
        finishReason: { unified: finish, raw: finish },
        usage: { inputTokens: { total: 3 }, outputTokens: { total: 5 } },
      },
    ]);
    return { stream };
  },
});

const model4 = (modelId = 'a model') => new MockLanguageModelV1({
  modelId,
  doStream: async ({ prompt }) => {
    const { thought, text, calls, error, finish } = step(prompt, modelId);
    const stream = streamed([
      ...pieces(thought).map((textDelta) => ({ type: 'reasoning', textDelta })),
      ...pieces(text).map((textDelta) => ({ type: 'text-delta', textDelta })),
      ...(error ? [{ type: 'error', error: new Error(error) }] : []),
      ...calls.flatMap(({ id, name, args }) => {
        const call = { toolCallType: 'function', toolCallId: id, toolName: name };
        return [
          ...pieces(JSON.stringify(args)).map((delta) => ({ type: 'tool-call-delta', ...call, argsTextDelta: delta })),
          { type: 'tool-call', ...call, args: JSON.stringify(args) },
        ];
      }),
      { type: 'finish', finishReason: finish, usage: { promptTokens: 3, completionTokens: 5 } },
    ]);
    return { stream, rawCall: { rawPrompt: null, rawSettings: {} } };
  },
});

async function answered(body) {
  const messages = await convertToModelMessages(body.messages);
  const stop = new AbortController();
  const stops = messages.at(-1).content[0].text === 'Say when.';
  return streamText({
    model: model(body.model),
    messages,
    tools: TOOLS,
    stopWhen: stepCountIs(5),
    abortSignal: stop.signal,
    onChunk: ({ chunk }) => stops && chunk.type === 'text-delta' && stop.abort(),
    onError: () => {},
  });
}

// What Next.js and others of the web's handlers give: a Response.
const HANDLERS = {
  '/api/chat': async (body) => (await answered(body)).toUIMessageStreamResponse(),
  '/agent': async ({ model: name, messages }) => {
    const agent = new ToolLoopAgent({ model: model(name), tools: TOOLS });
    return createAgentUIStreamResponse({ agent, uiMessages: messages });
  },
  '/telling': async (body) => {
    const stream = createUIMessageStream({
      execute: async ({ writer }) => {
        writer.write({ type: 'data-status', data: { said: 'thinking' }, transient: true });
        const messageMetadata = ({ part }) => part.type === 'finish' && { totalUsage: part.totalUsage };
        const onError = (error) => (error instanceof Error ? error.message : String(error));
        writer.merge((await answered(body)).toUIMessageStream({ messageMetadata, onError }));
        writer.write({ type: 'data-groundedness', data: { score: 0.9 } });
      },
    });
    return createUIMessageStreamResponse({ stream });
  },
  '/text': async (body) => (await answered(body)).toTextStreamResponse(),
  '/4': async ({ model: name, messages }) =>
    ai4
      .streamText({ model: model4(name), messages, tools: TOOLS_4, maxSteps: 5, toolCallStreaming: true })
      .toDataStreamResponse({ sendReasoning: true }),
};

const server = createServer(async (request, response) => {
  const body = await json(request);
  if (request.url === '/express') return (await answered(body)).pipeUIMessageStreamToResponse(response);
  const { status, headers, body: stream } = await HANDLERS[request.url](body);
  Readable.fromWeb(stream).pipe(response.writeHead(status, Object.fromEntries(headers)));
});

server.listen(0, '127.0.0.1', () => ready(server.address().port));
