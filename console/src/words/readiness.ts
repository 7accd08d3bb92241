/** The words of what a shop still lacks before it takes real money. */
import { sectionWords } from './words.ts';

const en = {
  ready: 'Nothing is missing: this shop can take real money.',
  missing: (count: number) =>
    count === 1
      ? 'One thing is missing for live mode.'
      : `${count} things are missing for live mode.`,
  list: 'What live mode needs',
  states: { done: 'Done', missing: 'Missing', advised: 'Advised' },
  live: {
    name: 'Live mode is on',
    hint: 'An operator of the platform switches it on.',
  },
  key: {
    name: 'There is a live key',
    hint: 'Issue one under Keys: programs call the API with it.',
  },
  routes: {
    name: 'A bank serves the shop’s payments',
    hint: 'An operator of the platform sets the routes.',
  },
  endpoint: {
    name: 'There is an endpoint for webhooks',
    hint: 'Add one under Webhooks.',
  },
  delivered: {
    name: 'A webhook was delivered',
    hint: 'None was taken yet: send a test event, or look at the attempts.',
  },
  succeeded: {
    name: 'A test payment succeeded',
    hint: 'Make one and pay it on its page.',
  },
  failed: {
    name: 'A test payment was declined',
    hint: 'Make one with a declined outcome: your program must meet it.',
  },
  refunded: {
    name: 'A test payment was refunded',
    hint: 'Refund one from its page in the console or by the API.',
  },
  receipts: {
    name: 'Receipts are required',
    hint: 'Without this setting a payment can be made without the receipt that 54-FZ demands.',
  },
  protected: {
    name: 'Keys are protected by signatures or addresses',
    hint: 'A key alone is enough for anyone who has it. Set this under Security.',
  },
  by: (methods: string) => `By: ${methods}`,
  go: 'Open',
};

const ru: typeof en = {
  ready: 'Всё готово: магазин может принимать настоящие деньги.',
  missing: (count) => `До боевого режима не хватает: ${count}.`,
  list: 'Что нужно для боевого режима',
  states: { done: 'Есть', missing: 'Не хватает', advised: 'Советуем' },
  live: {
    name: 'Боевой режим включён',
    hint: 'Его включает оператор платформы.',
  },
  key: {
    name: 'Есть боевой ключ',
    hint: 'Выпустите его на вкладке «Ключи»: с ним обращается программа.',
  },
  routes: {
    name: 'Платежи магазина обслуживает банк',
    hint: 'Маршруты задаёт оператор платформы.',
  },
  endpoint: {
    name: 'Есть адрес для вебхуков',
    hint: 'Добавьте его в разделе «Вебхуки».',
  },
  delivered: {
    name: 'Вебхук доставлен',
    hint: 'Пока не принят ни один: отправьте образец или посмотрите попытки.',
  },
  succeeded: {
    name: 'Тестовый платёж прошёл',
    hint: 'Создайте платёж и оплатите его на странице.',
  },
  failed: {
    name: 'Тестовый платёж отклонён',
    hint: 'Создайте платёж с отказом: ваша программа должна его встретить.',
  },
  refunded: {
    name: 'По тестовому платежу был возврат',
    hint: 'Сделайте возврат в консоли или через API.',
  },
  receipts: {
    name: 'Чеки обязательны',
    hint: 'Без этой настройки можно создать платёж без чека, которого требует 54-ФЗ.',
  },
  protected: {
    name: 'Ключи защищены подписью или адресами',
    hint: 'Иначе ключа достаточно любому, кто его узнал. Настройте на вкладке «Защита».',
  },
  by: (methods) => `Способы: ${methods}`,
  go: 'Открыть',
};

/** The words. */
export const useReadinessWords = sectionWords(en, ru);
export type ReadinessWords = typeof en;
