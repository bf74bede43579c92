CREATE TABLE public.entries (
    sequence bigint NOT NULL,
    at character varying(32) NOT NULL,
    kind character varying(16) NOT NULL,
    account bigint,
    body text NOT NULL,
    head character varying(64) NOT NULL
);
CREATE TABLE public.facts (
    id integer NOT NULL,
    ledger character varying(32) NOT NULL,
    version integer NOT NULL,
    incarnation integer NOT NULL,
    place text NOT NULL,
    public_key text,
    sequence bigint NOT NULL,
    head character varying(64) NOT NULL,
    CONSTRAINT facts_id_check CHECK ((id = 1))
);
CREATE SEQUENCE public.facts_id_seq
    AS integer
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;
ALTER SEQUENCE public.facts_id_seq OWNED BY public.facts.id;
CREATE TABLE public.holders (
    id bigint NOT NULL,
    account bigint NOT NULL,
    parent bigint NOT NULL,
    slot bigint,
    name text NOT NULL,
    about text NOT NULL,
    opened text NOT NULL,
    budget text NOT NULL,
    version bigint NOT NULL,
    guard bigint NOT NULL,
    sums text,
    state character varying(16) NOT NULL,
    CONSTRAINT holders_guard_check CHECK (((guard >= 0) AND (guard <= '4611686018427387904'::bigint))),
    CONSTRAINT holders_state_check CHECK (((state)::text = ANY ((ARRAY['open'::character varying, 'overdrawn'::character varying, 'spent'::character varying])::text[])))
);
CREATE SEQUENCE public.holders_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;
ALTER SEQUENCE public.holders_id_seq OWNED BY public.holders.id;
CREATE TABLE public.mechanisms (
    id bigint NOT NULL,
    spec text NOT NULL,
    state text NOT NULL,
    version bigint NOT NULL
);
CREATE SEQUENCE public.mechanisms_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;
ALTER SEQUENCE public.mechanisms_id_seq OWNED BY public.mechanisms.id;
CREATE TABLE public.requests (
    id bigint NOT NULL,
    holder bigint NOT NULL,
    key text NOT NULL,
    mechanism bigint,
    kind character varying(16) NOT NULL,
    what text NOT NULL,
    form text NOT NULL,
    paid text NOT NULL,
    state character varying(16) NOT NULL,
    lease text,
    answer text,
    salt character varying(64),
    sequence bigint NOT NULL,
    head character varying(64) NOT NULL,
    CONSTRAINT requests_check CHECK (((answer IS NULL) = ((state)::text = ANY ((ARRAY['reserved'::character varying, 'failed'::character varying])::text[])))),
    CONSTRAINT requests_state_check CHECK (((state)::text = ANY ((ARRAY['reserved'::character varying, 'answered'::character varying, 'delivered'::character varying, 'failed'::character varying])::text[])))
);
CREATE SEQUENCE public.requests_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;
ALTER SEQUENCE public.requests_id_seq OWNED BY public.requests.id;
CREATE TABLE public.slots (
    id bigint NOT NULL,
    account bigint NOT NULL,
    batch bigint NOT NULL,
    parent bigint,
    name text NOT NULL,
    epsilon text NOT NULL,
    delta text NOT NULL,
    plan character varying(64),
    state character varying(16) NOT NULL,
    CONSTRAINT slots_state_check CHECK (((state)::text = ANY ((ARRAY['free'::character varying, 'taken'::character varying, 'split'::character varying, 'spent'::character varying])::text[])))
);
CREATE SEQUENCE public.slots_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;
ALTER SEQUENCE public.slots_id_seq OWNED BY public.slots.id;
ALTER TABLE ONLY public.facts ALTER COLUMN id SET DEFAULT nextval('public.facts_id_seq'::regclass);
ALTER TABLE ONLY public.holders ALTER COLUMN id SET DEFAULT nextval('public.holders_id_seq'::regclass);
ALTER TABLE ONLY public.mechanisms ALTER COLUMN id SET DEFAULT nextval('public.mechanisms_id_seq'::regclass);
ALTER TABLE ONLY public.requests ALTER COLUMN id SET DEFAULT nextval('public.requests_id_seq'::regclass);
ALTER TABLE ONLY public.slots ALTER COLUMN id SET DEFAULT nextval('public.slots_id_seq'::regclass);
INSERT INTO public.entries VALUES (1, '2026-11-17T04:49:28+00:00', 'created', NULL, '{"ledger":"0c298739a07b1aa0cc408538af4c8e09","place":"7708997992889482853:16384:1","public_key":"998b2aad141e38df261f269be0dc07560cf12a1d11800ad36207e7c750ca3bb6"}', '7d8ebd6268077de2ce43a0de9621d846a9acf2ddf79137cc6e29ed6874aee4b7');
INSERT INTO public.entries VALUES (2, '2026-11-17T04:49:28+00:00', 'opened', 1, '{"about":{"capped":true,"delta":"1/1000000","sample":null,"unit":null},"disjoint":[],"holder":1,"name":"people","opened":{"admitted":0,"format":"optcomp-filter","kind":"sum","parameters":{"delta":"0","epsilon":"3"},"spent":{"delta":"0","epsilon":"0"},"version":1}}', 'c6eeffe302d9744142a64a721a0414264b678482aec003c03cae53a4a3edd572');
INSERT INTO public.entries VALUES (3, '2026-11-17T04:49:28+00:00', 'unit', 1, '{"unit":["add-remove","row"]}', '8a99a30aed89430645aa26b1cd3265de4c0e4ddd847eba1a1ae53e448b9bbb9e');
INSERT INTO public.entries VALUES (4, '2026-11-17T04:49:28+00:00', 'session', 1, '{"about":"20e976e79a3ef683bd84b3ada44c1aa95f317296dca3150e17ed3e69c71e60db","holder":2,"name":"ada","named":"6a33b7d37afa8292f9918ff1547f2421c9c8ff3a8162d974df256b83ce386e76","opened":{"admitted":0,"format":"optcomp-filter","kind":"sum","parameters":{"delta":"0","epsilon":"1"},"spent":{"delta":"0","epsilon":"0"},"version":1},"paid":[{"delta":"0","epsilon":"1","kind":"ApproxDP"}],"parent":1,"price":{"delta":"0","epsilon":"1"},"slot":null}', '089a66672d0ed4342f6e756d18a3372fc611d89f0c9b703bfeb4f374a1c7d727');
INSERT INTO public.entries VALUES (5, '2026-11-17T04:49:28+00:00', 'reserved', 1, '{"form":"cae495128be9dc61a0f57ff86fd55eb4d628d3aaabe31627add0619dd2d96f3c","holder":2,"kind":"question","named":"bbe0508764dac33b7994d37b89e4ca86ce6242d7a817fef0e221c303c166962c","paid":[{"epsilon":"1/10","kind":"PureDP"}],"price":{"delta":"0","epsilon":"1/10"}}', '821295d6198a0849b337862ee5f5f2b79f96c00f9f6879e4f5290768aacdf081');
INSERT INTO public.entries VALUES (6, '2026-11-17T04:49:28+00:00', 'answered', 1, '{"commitment":"811cbd42ad52e06f1759248b3ff061e7f345d0c3a1782e16f02ea6817a37cda6","request":2}', '6dd614371a05b59a1eace5d3c6bc5b41069bf9ca2495242444f2ba988bac8308');
INSERT INTO public.entries VALUES (7, '2026-11-17T04:49:28+00:00', 'reserved', 1, '{"form":"9103bea3dad3a133f22b269d1bbf05cd9856101d6d06be6324f8020b7281c123","holder":2,"kind":"mechanism","named":"903a0dc7ca61efa976b11780e01579d19a5ae3d2b10bb7167873e1062fa404bc","paid":[{"epsilon":"1/5","kind":"PureDP"}],"price":{"delta":"0","epsilon":"1/5"}}', '72ec968c726d02a2746172c44491b987324477340d3f749f78f6b896e76d859a');
INSERT INTO public.entries VALUES (8, '2026-11-17T04:49:28+00:00', 'answered', 1, '{"commitment":"2763829086b8c5746486a771e95f155b761bb0fb77f864563a2063aff17466fa","request":3}', 'ee3a67f0f942bf0335ce5f3fca1547672b682750dc7fe8a7ca2e3f96af29abf0');
INSERT INTO public.entries VALUES (9, '2026-11-17T04:49:28+00:00', 'asked', 1, '{"commitment":"2d8ef62b03c0dc7cd7e8100dc246246962695a47d26db0e1d5afb9ae2ead63ee","form":"575ac832059c26a32da1f593003bac5bf6f29e41d0646dccd2e662ad0b7d25c7","holder":2,"mechanism":3,"named":"15af747dea60b43c3de93a3a0c07bca9e82d0f8a28016229bd261881bf331750"}', 'eb5602ae159540ea212c4d759fbef6c9a706431e4d0ccc1420c6392718ddf990');
INSERT INTO public.entries VALUES (10, '2026-11-17T04:49:28+00:00', 'session', 1, '{"about":"20e976e79a3ef683bd84b3ada44c1aa95f317296dca3150e17ed3e69c71e60db","holder":3,"name":"grace","named":"a1e72099078031e703f7a18b133b133c7dad5589078d9d49610c1f22d603b919","opened":{"admitted":0,"format":"optcomp-filter","kind":"sum","parameters":{"delta":"0","epsilon":"1/4"},"spent":{"delta":"0","epsilon":"0"},"version":1},"paid":[{"delta":"0","epsilon":"1/4","kind":"ApproxDP"}],"parent":1,"price":{"delta":"0","epsilon":"1/4"},"slot":null}', '637fe9a6cbdff0d92e9b116bbb0e77c7d5b6bb4e840a728bd2ed7ab34ba7aebe');
INSERT INTO public.entries VALUES (11, '2026-11-17T04:49:28+00:00', 'reserved', 1, '{"form":"14333ba6ecf085b70b4bc3fe6784e69bc8a4726099ed9aa2cb199a31d8aea724","holder":3,"kind":"question","named":"dcf2f7b0067badb713e8af5642da159b138cf7a6e8ac5364c505f8fb2636a140","paid":[{"epsilon":"1/8","kind":"PureDP"}],"price":{"delta":"0","epsilon":"1/8"}}', 'e599b78f27d2b969f1250632725f98f852f9b1a06cec28526e50b1ca1d5db66e');
INSERT INTO public.entries VALUES (12, '2026-11-17T04:49:28+00:00', 'answered', 1, '{"commitment":"624cc7ee7bf95dbc18acd2cd35998c7d465bb7dfbdf764d0f0365676f73bbf47","request":6}', '751ae2fa133209cfb6cef7788883a0a2a07ced24800d6b2276b063e140929255');
INSERT INTO public.entries VALUES (13, '2026-11-17T04:49:28+00:00', 'batch', 1, '{"holder":1,"name":"batch","named":"4e2d7952341be1ab729a4b0d0590879cf3e507b55eab23236c85b8fada95df2f","numbers":{"bob":1,"carol":2,"dan":3},"paid":[{"delta":"0","epsilon":"3/4","kind":"ApproxDP"}],"plans":{},"price":{"delta":"0","epsilon":"3/4"},"slots":{"bob":["1/4","0"],"carol":["1/4","0"],"dan":["1/4","0"]},"theorem":"MV18-1.5"}', 'eb1adb5645a58ca6012a3271a436a1b6e9c87479a0aadc91d166f7fd963a5f44');
INSERT INTO public.entries VALUES (14, '2026-11-17T04:49:28+00:00', 'split', 1, '{"numbers":{"carol 1":4,"carol 2":5},"parts":{"carol 1":["1/8","0"],"carol 2":["1/8","0"]},"slot":2}', '0319d7ecf23704ab15911b85c3539d4d7d77934d59a524f0d3c21c8f6ed1fccc');
INSERT INTO public.entries VALUES (15, '2026-11-17T04:49:28+00:00', 'session', 1, '{"about":"20e976e79a3ef683bd84b3ada44c1aa95f317296dca3150e17ed3e69c71e60db","holder":4,"name":"dan","named":"ce71e7cf2b8afc9f4d50cef1965e6c245bb2be07cbc12a61536ce3c36a81482b","opened":{"admitted":0,"format":"optcomp-filter","kind":"sum","parameters":{"delta":"0","epsilon":"1/4"},"spent":{"delta":"0","epsilon":"0"},"version":1},"paid":[],"parent":1,"price":{},"slot":3}', '28bf7187a9e1ff9d99e8ebefd993d7182dd955be718201e91c8bf04cde568178');
INSERT INTO public.entries VALUES (16, '2026-11-17T04:49:28+00:00', 'reserved', 1, '{"form":"4a39afbd1a4a4784f85aad88fdd8fb094352088087e0d6862c134d5908e2dc51","holder":4,"kind":"question","named":"472f87bb068d6528e19a3de7cb51761415fb950ac190363ddcedfd6c47b81b46","paid":[{"epsilon":"1/8","kind":"PureDP"}],"price":{"delta":"0","epsilon":"1/8"}}', 'bfa38fb6cc05c0340ae61843b47bdcaf1b9b9e665e61c37dfd8695e91add991a');
INSERT INTO public.entries VALUES (17, '2026-11-17T04:49:28+00:00', 'answered', 1, '{"commitment":"c76c7c6c71b473283bb4bbdb07ce841c1d6260d6d9b1aa2e624eb2b040eaf9d3","request":9}', '6c5a819b7109d7f1fb804135f901a0ef2c69f2d5b3721ac4146cbae7f0dea6fd');
INSERT INTO public.entries VALUES (18, '2026-11-17T04:49:29+00:00', 'entered', 1, '{"holder":1,"named":"05ef240df87b468008ff5b84a47bc1687bb45fdb556b91e8a376a2f17b041d4c","paid":[{"epsilon":"1/2","kind":"PureDP"}],"price":{"delta":"0","epsilon":"1/2"}}', '114853f027301647eee0ce2538c422fb5ac0e09c40b560c665fad258b6f28ee7');
INSERT INTO public.entries VALUES (19, '2026-11-17T04:49:29+00:00', 'reserved', 1, '{"form":"2414ef8ac14596f2838c7082e48a9a93e6fb8cfacb1704b5cd8a80fe50c5a91a","holder":1,"kind":"release","named":"3ac430cd12ba1636128d066bec1bc5b8e81b7ac06b7c4f59816205a291e638d2","paid":[{"epsilon":"1/4","kind":"PureDP"}],"price":{"delta":"0","epsilon":"1/4"}}', 'a9e7959c9a28f856d6b2dcb7cdc8dc7c022b537e77f1ce662b26a3a224904f27');
INSERT INTO public.entries VALUES (20, '2026-11-17T04:49:29+00:00', 'answered', 1, '{"commitment":"2b4991eb7e0319faa69157d5d1e19808459ed76a1801f9b7a413187518cca80d","request":11}', '0f66836a6974c4a2869aa501c1438c52636ea419470d5fde0ec3ede17c22fdf4');
INSERT INTO public.entries VALUES (21, '2026-11-17T04:49:29+00:00', 'opened', 5, '{"about":{"capped":true,"delta":"1/1000000","sample":null,"unit":null},"disjoint":["people"],"holder":5,"name":"other people","opened":{"admitted":0,"format":"optcomp-filter","kind":"best","parameters":{"cap":"826408645684529/36028797018963968","delta":"1/1000000","delta_parts":"1/2000000","epsilon":"1"},"spent":{"delta":"0","epsilon":"0","rho":"0"},"version":1}}', '82c896b71d9aeccba8b02e3e5f4b97179ea4b0ab067a57dbdc9959163b48b9b3');
INSERT INTO public.facts VALUES (1, '0c298739a07b1aa0cc408538af4c8e09', 1, 1, '7708997992889482853:16384:1', '998b2aad141e38df261f269be0dc07560cf12a1d11800ad36207e7c750ca3bb6', 21, '82c896b71d9aeccba8b02e3e5f4b97179ea4b0ab067a57dbdc9959163b48b9b3');
INSERT INTO public.holders VALUES (1, 1, 0, NULL, 'people', '{"capped":true,"delta":"1/1000000","sample":null,"unit":["add-remove","row"]}', '{"admitted":0,"format":"optcomp-filter","kind":"sum","parameters":{"delta":"0","epsilon":"3"},"spent":{"delta":"0","epsilon":"0"},"version":1}', '{"admitted":5,"format":"optcomp-filter","kind":"sum","parameters":{"delta":"0","epsilon":"3"},"spent":{"delta":"0","epsilon":"11/4"},"version":1}', 6, 4227378850225105578, '{"delta":"0","epsilon":"11/4","rho":"31/32"}', 'open');
INSERT INTO public.holders VALUES (5, 5, 0, NULL, 'other people', '{"capped":true,"delta":"1/1000000","sample":null,"unit":null}', '{"admitted":0,"format":"optcomp-filter","kind":"best","parameters":{"cap":"826408645684529/36028797018963968","delta":"1/1000000","delta_parts":"1/2000000","epsilon":"1"},"spent":{"delta":"0","epsilon":"0","rho":"0"},"version":1}', '{"admitted":0,"format":"optcomp-filter","kind":"best","parameters":{"cap":"826408645684529/36028797018963968","delta":"1/1000000","delta_parts":"1/2000000","epsilon":"1"},"spent":{"delta":"0","epsilon":"0","rho":"0"},"version":1}', 1, 0, '{"delta":"0","epsilon":"0","rho":"0"}', 'open');
INSERT INTO public.holders VALUES (2, 1, 1, NULL, 'ada', '{"snapshot":null,"table":{"columns":[{"integers":[0,99],"name":"age"}],"grouped_by":[],"groups_per_person":1,"name":"people","neighbours":"add-remove","person":null,"population":null,"rows_per_group":1,"rows_per_person":1}}', '{"admitted":0,"format":"optcomp-filter","kind":"sum","parameters":{"delta":"0","epsilon":"1"},"spent":{"delta":"0","epsilon":"0"},"version":1}', '{"admitted":2,"format":"optcomp-filter","kind":"sum","parameters":{"delta":"0","epsilon":"1"},"spent":{"delta":"0","epsilon":"3/10"},"version":1}', 3, 1383505805528216371, NULL, 'open');
INSERT INTO public.holders VALUES (3, 1, 1, NULL, 'grace', '{"snapshot":null,"table":{"columns":[{"integers":[0,99],"name":"age"}],"grouped_by":[],"groups_per_person":1,"name":"people","neighbours":"add-remove","person":null,"population":null,"rows_per_group":1,"rows_per_person":1}}', '{"admitted":0,"format":"optcomp-filter","kind":"sum","parameters":{"delta":"0","epsilon":"1/4"},"spent":{"delta":"0","epsilon":"0"},"version":1}', '{"admitted":1,"format":"optcomp-filter","kind":"sum","parameters":{"delta":"0","epsilon":"1/4"},"spent":{"delta":"0","epsilon":"1/8"},"version":1}', 2, 2305843009213693952, NULL, 'open');
INSERT INTO public.holders VALUES (4, 1, 1, 3, 'dan', '{"snapshot":null,"table":{"columns":[{"integers":[0,99],"name":"age"}],"grouped_by":[],"groups_per_person":1,"name":"people","neighbours":"add-remove","person":null,"population":null,"rows_per_group":1,"rows_per_person":1}}', '{"admitted":0,"format":"optcomp-filter","kind":"sum","parameters":{"delta":"0","epsilon":"1/4"},"spent":{"delta":"0","epsilon":"0"},"version":1}', '{"admitted":1,"format":"optcomp-filter","kind":"sum","parameters":{"delta":"0","epsilon":"1/4"},"spent":{"delta":"0","epsilon":"1/8"},"version":1}', 2, 2305843009213693952, NULL, 'open');
INSERT INTO public.mechanisms VALUES (3, '{"epsilon":"1/5","mechanism":"sparse vector","monotone":false,"positives":3,"refresh":false,"sensitivity":1,"share":"990583/4261416","threshold":"-1000000"}', 'gAAAAABq-9zYf70HIh-pEanwvSpR8mVrp0JnH-nJIosY3GuI_ApOvZfA7uaOShXMuAzz607Lb8OoBxZyW7OzRuewIDYQnlMUrxOkUsT3443NZdE4QYSflDpWnqxip2cEPfZbxZsaYsQhs5ATAsG3SY3RdthAe-FBwclzgeJ7ynR-SqU6ZhR0ofOCboNgWutYa7pAQqZk4b9qWR015UUyVdHLfUYqXpZsRFtoC_yK169HrkkoxW_2Uqgeo2I1fTZtyzmUW21Gvb8kXedAEeQu7Jb7rmwla1chscnVNd2aoqlAnbRs3YhZBR67IWFSoQm8ch70cXlw95TofKidIBta6i1G9yWI4RIABzmkapXndMaTYQ1LwSFOAzcmL0JwMoCsaaylWABcvjAM1bjkf9vxyzVgL6nPpHir7g==', 2);
INSERT INTO public.requests VALUES (1, 1, 'session ada', NULL, 'session', 'session ada', '{"holder":2,"name":"ada","opened":{"admitted":0,"format":"optcomp-filter","kind":"sum","parameters":{"delta":"0","epsilon":"1"},"spent":{"delta":"0","epsilon":"0"},"version":1},"parent":1,"slot":null}', '[{"delta":"0","epsilon":"1","kind":"ApproxDP"}]', 'delivered', NULL, '', NULL, 4, '089a66672d0ed4342f6e756d18a3372fc611d89f0c9b703bfeb4f374a1c7d727');
INSERT INTO public.requests VALUES (9, 4, 'question 4a39afbd1a4a4784f85aad88fdd8fb094352088087e0d6862c134d5908e2dc51', NULL, 'question', 'count at ε = 0.125', '{"question":{"epsilon":"1/8","noise":"laplace","statistic":{"count":"rows"}},"repeat":0,"snapshot":null}', '[{"epsilon":"1/8","kind":"PureDP"}]', 'delivered', NULL, '{"amounts":[["101"]],"question":{"epsilon":"1/8","noise":"laplace","statistic":{"count":"rows"}}}', '2aee5f67bf2fa3d29080a1d151ededc50e1fb1869370279fb637d0b4d3f5a1e1', 17, '6c5a819b7109d7f1fb804135f901a0ef2c69f2d5b3721ac4146cbae7f0dea6fd');
INSERT INTO public.requests VALUES (4, 2, 'ask 575ac832059c26a32da1f593003bac5bf6f29e41d0646dccd2e662ad0b7d25c7', 3, 'ask', 'sparse vector at ε = 0.2, threshold -1e+06, 3 positive', '{"ask":{"statistic":{"count":"rows"}},"mechanism":3,"repeat":0}', '[]', 'answered', NULL, 'true', '2af137ed1863805160d3160cfe7808e9a3095f14ba96dd828ccf2e3bf0c54129', 9, 'eb5602ae159540ea212c4d759fbef6c9a706431e4d0ccc1420c6392718ddf990');
INSERT INTO public.requests VALUES (2, 2, 'question cae495128be9dc61a0f57ff86fd55eb4d628d3aaabe31627add0619dd2d96f3c', NULL, 'question', 'count at ε = 0.1', '{"question":{"epsilon":"1/10","noise":"laplace","statistic":{"count":"rows"}},"repeat":0,"snapshot":null}', '[{"epsilon":"1/10","kind":"PureDP"}]', 'delivered', NULL, '{"amounts":[["97"]],"question":{"epsilon":"1/10","noise":"laplace","statistic":{"count":"rows"}}}', '3c0c966f4950798fc1474ed3a3ca51d431389dd778a6e0331213b36727487bb7', 6, '6dd614371a05b59a1eace5d3c6bc5b41069bf9ca2495242444f2ba988bac8308');
INSERT INTO public.requests VALUES (3, 2, 'mechanism 9103bea3dad3a133f22b269d1bbf05cd9856101d6d06be6324f8020b7281c123', NULL, 'mechanism', 'sparse vector at ε = 0.2, threshold -1e+06, 3 positive', '{"mechanism":{"epsilon":"1/5","mechanism":"sparse vector","monotone":false,"positives":3,"refresh":false,"sensitivity":1,"share":"990583/4261416","threshold":"-1000000"},"repeat":0,"snapshot":null}', '[{"epsilon":"1/5","kind":"PureDP"}]', 'delivered', NULL, '{}', 'ad4321596f961febe76b357562390a572c9f8255943dff6a1edf05f6d79f2826', 8, 'ee3a67f0f942bf0335ce5f3fca1547672b682750dc7fe8a7ca2e3f96af29abf0');
INSERT INTO public.requests VALUES (5, 1, 'session grace', NULL, 'session', 'session grace', '{"holder":3,"name":"grace","opened":{"admitted":0,"format":"optcomp-filter","kind":"sum","parameters":{"delta":"0","epsilon":"1/4"},"spent":{"delta":"0","epsilon":"0"},"version":1},"parent":1,"slot":null}', '[{"delta":"0","epsilon":"1/4","kind":"ApproxDP"}]', 'delivered', NULL, '', NULL, 10, '637fe9a6cbdff0d92e9b116bbb0e77c7d5b6bb4e840a728bd2ed7ab34ba7aebe');
INSERT INTO public.requests VALUES (10, 1, 'elsewhere', NULL, 'entered', 'a release made elsewhere', '{"entered":"elsewhere"}', '[{"epsilon":"1/2","kind":"PureDP"}]', 'delivered', NULL, '', NULL, 18, '114853f027301647eee0ce2538c422fb5ac0e09c40b560c665fad258b6f28ee7');
INSERT INTO public.requests VALUES (6, 3, 'question 14333ba6ecf085b70b4bc3fe6784e69bc8a4726099ed9aa2cb199a31d8aea724', NULL, 'question', 'count where age > 60 at ε = 0.125', '{"question":{"epsilon":"1/8","noise":"laplace","statistic":{"count":"rows","where":"age > 60"}},"repeat":0,"snapshot":null}', '[{"epsilon":"1/8","kind":"PureDP"}]', 'delivered', NULL, '{"amounts":[["32"]],"question":{"epsilon":"1/8","noise":"laplace","statistic":{"count":"rows","where":"age > 60"}}}', '7ff1e525daa12dbf2a924738e759acf16a09b5e505390b5c61c3426e5a601345', 12, '751ae2fa133209cfb6cef7788883a0a2a07ced24800d6b2276b063e140929255');
INSERT INTO public.requests VALUES (7, 1, 'batch batch', NULL, 'batch', 'batch batch', '{"name":"batch","plans":{},"slots":{"bob":["1/4","0"],"carol":["1/4","0"],"dan":["1/4","0"]},"theorem":"MV18-1.5","whole":["3/4","0"]}', '[{"delta":"0","epsilon":"3/4","kind":"ApproxDP"}]', 'delivered', NULL, '', NULL, 13, 'eb1adb5645a58ca6012a3271a436a1b6e9c87479a0aadc91d166f7fd963a5f44');
INSERT INTO public.requests VALUES (8, 1, 'session dan', NULL, 'session', 'session dan', '{"holder":4,"name":"dan","opened":{"admitted":0,"format":"optcomp-filter","kind":"sum","parameters":{"delta":"0","epsilon":"1/4"},"spent":{"delta":"0","epsilon":"0"},"version":1},"parent":1,"slot":3}', '[]', 'delivered', NULL, '', NULL, 15, '28bf7187a9e1ff9d99e8ebefd993d7182dd955be718201e91c8bf04cde568178');
INSERT INTO public.requests VALUES (11, 1, 'release', NULL, 'release', 'a release', '{"of":"release"}', '[{"epsilon":"1/4","kind":"PureDP"}]', 'answered', NULL, '{"told":1}', '0ed78c40cf1e416daf6ab1966d648a6fe457b7c9df61b90abaa07a91810a2047', 20, '0f66836a6974c4a2869aa501c1438c52636ea419470d5fde0ec3ede17c22fdf4');
INSERT INTO public.slots VALUES (1, 1, 7, NULL, 'bob', '1/4', '0', NULL, 'free');
INSERT INTO public.slots VALUES (2, 1, 7, NULL, 'carol', '1/4', '0', NULL, 'split');
INSERT INTO public.slots VALUES (4, 1, 7, 2, 'carol 1', '1/8', '0', NULL, 'free');
INSERT INTO public.slots VALUES (5, 1, 7, 2, 'carol 2', '1/8', '0', NULL, 'free');
INSERT INTO public.slots VALUES (3, 1, 7, NULL, 'dan', '1/4', '0', NULL, 'taken');
SELECT pg_catalog.setval('public.facts_id_seq', 1, false);
SELECT pg_catalog.setval('public.holders_id_seq', 5, true);
SELECT pg_catalog.setval('public.mechanisms_id_seq', 1, false);
SELECT pg_catalog.setval('public.requests_id_seq', 11, true);
SELECT pg_catalog.setval('public.slots_id_seq', 1, false);
ALTER TABLE ONLY public.entries
    ADD CONSTRAINT entries_pkey PRIMARY KEY (sequence);
ALTER TABLE ONLY public.facts
    ADD CONSTRAINT facts_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.holders
    ADD CONSTRAINT holders_parent_name_key UNIQUE (parent, name);
ALTER TABLE ONLY public.holders
    ADD CONSTRAINT holders_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.mechanisms
    ADD CONSTRAINT mechanisms_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.requests
    ADD CONSTRAINT requests_holder_key_key UNIQUE (holder, key);
ALTER TABLE ONLY public.requests
    ADD CONSTRAINT requests_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.slots
    ADD CONSTRAINT slots_account_name_key UNIQUE (account, name);
ALTER TABLE ONLY public.slots
    ADD CONSTRAINT slots_pkey PRIMARY KEY (id);
