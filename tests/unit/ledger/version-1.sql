BEGIN TRANSACTION;
CREATE TABLE entries (
	sequence INTEGER NOT NULL, 
	at VARCHAR(32) NOT NULL, 
	kind VARCHAR(16) NOT NULL, 
	account BIGINT, 
	body TEXT NOT NULL, 
	head VARCHAR(64) NOT NULL, 
	PRIMARY KEY (sequence)
);
INSERT INTO "entries" VALUES(1,'2026-11-17T04:49:26+00:00','created',NULL,'{"ledger":"de06e0c32812096bce83e283722d591d","place":"inode 2555908","public_key":"998b2aad141e38df261f269be0dc07560cf12a1d11800ad36207e7c750ca3bb6"}','4cafc5863075a21320b811a26822ccd1dc714b359619c99f1067abf11ff40702');
INSERT INTO "entries" VALUES(2,'2026-11-17T04:49:26+00:00','opened',1,'{"about":{"capped":true,"delta":"1/1000000","sample":null,"unit":null},"disjoint":[],"holder":1,"name":"people","opened":{"admitted":0,"format":"optcomp-filter","kind":"sum","parameters":{"delta":"0","epsilon":"3"},"spent":{"delta":"0","epsilon":"0"},"version":1}}','9e5bd1f065f7ede083239bb91a89aee172d4244f32750a10b90594193d07e831');
INSERT INTO "entries" VALUES(3,'2026-11-17T04:49:27+00:00','unit',1,'{"unit":["add-remove","row"]}','88178d9ac0f15f2b1612d253adf9af9e271c86b8c29e8c14a1bf0245fe80081d');
INSERT INTO "entries" VALUES(4,'2026-11-17T04:49:27+00:00','session',1,'{"about":"20e976e79a3ef683bd84b3ada44c1aa95f317296dca3150e17ed3e69c71e60db","holder":2,"name":"ada","named":"6a33b7d37afa8292f9918ff1547f2421c9c8ff3a8162d974df256b83ce386e76","opened":{"admitted":0,"format":"optcomp-filter","kind":"sum","parameters":{"delta":"0","epsilon":"1"},"spent":{"delta":"0","epsilon":"0"},"version":1},"paid":[{"delta":"0","epsilon":"1","kind":"ApproxDP"}],"parent":1,"price":{"delta":"0","epsilon":"1"},"slot":null}','d0d0d3f6883bd34e2844740f434626f37559345b0852abe98931d95a631ab1db');
INSERT INTO "entries" VALUES(5,'2026-11-17T04:49:27+00:00','reserved',1,'{"form":"cae495128be9dc61a0f57ff86fd55eb4d628d3aaabe31627add0619dd2d96f3c","holder":2,"kind":"question","named":"bbe0508764dac33b7994d37b89e4ca86ce6242d7a817fef0e221c303c166962c","paid":[{"epsilon":"1/10","kind":"PureDP"}],"price":{"delta":"0","epsilon":"1/10"}}','7983fba51426033e47aad0f274d6db6b754d838e959a0da99a3e055da5d9a64d');
INSERT INTO "entries" VALUES(6,'2026-11-17T04:49:27+00:00','answered',1,'{"commitment":"aec13b2c48889ace99637beb95c11b446b032cf00db978a6fc6a8b8554eca20d","request":2}','29a688b88bf7bca01a859b4815e736a77466649a8b631c6da1a07d5f815e9d6b');
INSERT INTO "entries" VALUES(7,'2026-11-17T04:49:27+00:00','reserved',1,'{"form":"9103bea3dad3a133f22b269d1bbf05cd9856101d6d06be6324f8020b7281c123","holder":2,"kind":"mechanism","named":"903a0dc7ca61efa976b11780e01579d19a5ae3d2b10bb7167873e1062fa404bc","paid":[{"epsilon":"1/5","kind":"PureDP"}],"price":{"delta":"0","epsilon":"1/5"}}','267de96fe5709fbeb0937ba27276469d7b1a2cdda43f1aa5522c6f00c90cbc4f');
INSERT INTO "entries" VALUES(8,'2026-11-17T04:49:27+00:00','answered',1,'{"commitment":"899eed27d43e4604f081ae5c41efed96d8eaedf476198c50a24adf8fb962332a","request":3}','b9d944c610f9c46503d46c93d839213d931691142f36d41f387496aee6dbe6d1');
INSERT INTO "entries" VALUES(9,'2026-11-17T04:49:27+00:00','asked',1,'{"commitment":"e44f8911ef3165a6d02174dae93b93b02bb8dd60cdf2b38a63378c1f7d2a918f","form":"575ac832059c26a32da1f593003bac5bf6f29e41d0646dccd2e662ad0b7d25c7","holder":2,"mechanism":3,"named":"15af747dea60b43c3de93a3a0c07bca9e82d0f8a28016229bd261881bf331750"}','d7a013fc46dce6a3c5849827ac520e71f8bca8c44bfb09f566ab951777cd9634');
INSERT INTO "entries" VALUES(10,'2026-11-17T04:49:27+00:00','session',1,'{"about":"20e976e79a3ef683bd84b3ada44c1aa95f317296dca3150e17ed3e69c71e60db","holder":3,"name":"grace","named":"a1e72099078031e703f7a18b133b133c7dad5589078d9d49610c1f22d603b919","opened":{"admitted":0,"format":"optcomp-filter","kind":"sum","parameters":{"delta":"0","epsilon":"1/4"},"spent":{"delta":"0","epsilon":"0"},"version":1},"paid":[{"delta":"0","epsilon":"1/4","kind":"ApproxDP"}],"parent":1,"price":{"delta":"0","epsilon":"1/4"},"slot":null}','0ad8061e34fada8e4c0d46d0a2078821aad34e6507858e09c6809d43dfea612d');
INSERT INTO "entries" VALUES(11,'2026-11-17T04:49:27+00:00','reserved',1,'{"form":"14333ba6ecf085b70b4bc3fe6784e69bc8a4726099ed9aa2cb199a31d8aea724","holder":3,"kind":"question","named":"dcf2f7b0067badb713e8af5642da159b138cf7a6e8ac5364c505f8fb2636a140","paid":[{"epsilon":"1/8","kind":"PureDP"}],"price":{"delta":"0","epsilon":"1/8"}}','b2e5a685ca99e3d6bd0703afb6e6c1ff25b40ea907d704e85e0dae5ad3d1c5fc');
INSERT INTO "entries" VALUES(12,'2026-11-17T04:49:27+00:00','answered',1,'{"commitment":"52ff13e8e6ddc8885416f98e381776bb051a79eb3f6bcef978b3b9349a8b0165","request":6}','36005b101b214fdbac01d9046003ae72f74947158b1eb1fbc65f3db8f5bb4e61');
INSERT INTO "entries" VALUES(13,'2026-11-17T04:49:27+00:00','batch',1,'{"holder":1,"name":"batch","named":"4e2d7952341be1ab729a4b0d0590879cf3e507b55eab23236c85b8fada95df2f","numbers":{"bob":1,"carol":2,"dan":3},"paid":[{"delta":"0","epsilon":"3/4","kind":"ApproxDP"}],"plans":{},"price":{"delta":"0","epsilon":"3/4"},"slots":{"bob":["1/4","0"],"carol":["1/4","0"],"dan":["1/4","0"]},"theorem":"MV18-1.5"}','d9750cb7b5435435023c2b25f8d13b638b254beae16bb648ca096dba160d36a9');
INSERT INTO "entries" VALUES(14,'2026-11-17T04:49:27+00:00','split',1,'{"numbers":{"carol 1":4,"carol 2":5},"parts":{"carol 1":["1/8","0"],"carol 2":["1/8","0"]},"slot":2}','b0acec89bd1ab233aaa51c900e54bf8e21c97988d12f9369215eafc6102ffdd0');
INSERT INTO "entries" VALUES(15,'2026-11-17T04:49:27+00:00','session',1,'{"about":"20e976e79a3ef683bd84b3ada44c1aa95f317296dca3150e17ed3e69c71e60db","holder":4,"name":"dan","named":"ce71e7cf2b8afc9f4d50cef1965e6c245bb2be07cbc12a61536ce3c36a81482b","opened":{"admitted":0,"format":"optcomp-filter","kind":"sum","parameters":{"delta":"0","epsilon":"1/4"},"spent":{"delta":"0","epsilon":"0"},"version":1},"paid":[],"parent":1,"price":{},"slot":3}','e9c06f28d3acdce3691a336ea70ffc98ade1016fd9facceb8827dda0bd22f6e6');
INSERT INTO "entries" VALUES(16,'2026-11-17T04:49:27+00:00','reserved',1,'{"form":"4a39afbd1a4a4784f85aad88fdd8fb094352088087e0d6862c134d5908e2dc51","holder":4,"kind":"question","named":"472f87bb068d6528e19a3de7cb51761415fb950ac190363ddcedfd6c47b81b46","paid":[{"epsilon":"1/8","kind":"PureDP"}],"price":{"delta":"0","epsilon":"1/8"}}','fc7b1acf7c26c7683580d72d2c0515367a0fa48dae59de2472e6b047256dad94');
INSERT INTO "entries" VALUES(17,'2026-11-17T04:49:28+00:00','answered',1,'{"commitment":"3abbbefac0a4a9e1d288f6e315b8a76f85b6c65c791f44a0b66a15ce1bbe0230","request":9}','481ee072ef8e0f43f0a317694cca4b0cf6d3342ed0cbf7a9fec2bbab91bf6fea');
INSERT INTO "entries" VALUES(18,'2026-11-17T04:49:28+00:00','entered',1,'{"holder":1,"named":"05ef240df87b468008ff5b84a47bc1687bb45fdb556b91e8a376a2f17b041d4c","paid":[{"epsilon":"1/2","kind":"PureDP"}],"price":{"delta":"0","epsilon":"1/2"}}','43eacb56137712a2afa08bc171185fcfd4f3db80a96eff9c32a0066f8e0fcbd3');
INSERT INTO "entries" VALUES(19,'2026-11-17T04:49:28+00:00','reserved',1,'{"form":"2414ef8ac14596f2838c7082e48a9a93e6fb8cfacb1704b5cd8a80fe50c5a91a","holder":1,"kind":"release","named":"3ac430cd12ba1636128d066bec1bc5b8e81b7ac06b7c4f59816205a291e638d2","paid":[{"epsilon":"1/4","kind":"PureDP"}],"price":{"delta":"0","epsilon":"1/4"}}','b1a7907ecd64a7d0038207ed5d05a15ead3616089301fe0ef6d520e0daaafa19');
INSERT INTO "entries" VALUES(20,'2026-11-17T04:49:28+00:00','answered',1,'{"commitment":"39adf652ad8ae4383ee14e2783292e9a4cb809b16ee9b9231552eceba03194f1","request":11}','693758e598ca225312da2cc44e533f6e46f70a155c80d2e98bf82cb2bccfe0c4');
INSERT INTO "entries" VALUES(21,'2026-11-17T04:49:28+00:00','opened',5,'{"about":{"capped":true,"delta":"1/1000000","sample":null,"unit":null},"disjoint":["people"],"holder":5,"name":"other people","opened":{"admitted":0,"format":"optcomp-filter","kind":"best","parameters":{"cap":"826408645684529/36028797018963968","delta":"1/1000000","delta_parts":"1/2000000","epsilon":"1"},"spent":{"delta":"0","epsilon":"0","rho":"0"},"version":1}}','a3b67cdb081f8337501f52aa22b32e47ea34acde85427119599e795046a179c2');
CREATE TABLE facts (
	id INTEGER NOT NULL, 
	ledger VARCHAR(32) NOT NULL, 
	version INTEGER NOT NULL, 
	incarnation INTEGER NOT NULL, 
	place TEXT NOT NULL, 
	public_key TEXT, 
	sequence BIGINT NOT NULL, 
	head VARCHAR(64) NOT NULL, 
	PRIMARY KEY (id), 
	CHECK (id = 1)
);
INSERT INTO "facts" VALUES(1,'de06e0c32812096bce83e283722d591d',1,1,'inode 2555908','998b2aad141e38df261f269be0dc07560cf12a1d11800ad36207e7c750ca3bb6',21,'a3b67cdb081f8337501f52aa22b32e47ea34acde85427119599e795046a179c2');
CREATE TABLE holders (
	id INTEGER NOT NULL, 
	account BIGINT NOT NULL, 
	parent BIGINT NOT NULL, 
	slot BIGINT, 
	name TEXT NOT NULL, 
	about TEXT NOT NULL, 
	opened TEXT NOT NULL, 
	budget TEXT NOT NULL, 
	version BIGINT NOT NULL, 
	guard BIGINT NOT NULL, 
	sums TEXT, 
	state VARCHAR(16) NOT NULL, 
	PRIMARY KEY (id), 
	UNIQUE (parent, name), 
	CHECK (guard >= 0 AND guard <= 4611686018427387904), 
	CHECK (state IN ('open', 'overdrawn', 'spent'))
);
INSERT INTO "holders" VALUES(1,1,0,NULL,'people','{"capped":true,"delta":"1/1000000","sample":null,"unit":["add-remove","row"]}','{"admitted":0,"format":"optcomp-filter","kind":"sum","parameters":{"delta":"0","epsilon":"3"},"spent":{"delta":"0","epsilon":"0"},"version":1}','{"admitted":5,"format":"optcomp-filter","kind":"sum","parameters":{"delta":"0","epsilon":"3"},"spent":{"delta":"0","epsilon":"11/4"},"version":1}',6,4227378850225105578,'{"delta":"0","epsilon":"11/4","rho":"31/32"}','open');
INSERT INTO "holders" VALUES(2,1,1,NULL,'ada','{"snapshot":null,"table":{"columns":[{"integers":[0,99],"name":"age"}],"grouped_by":[],"groups_per_person":1,"name":"people","neighbours":"add-remove","person":null,"population":null,"rows_per_group":1,"rows_per_person":1}}','{"admitted":0,"format":"optcomp-filter","kind":"sum","parameters":{"delta":"0","epsilon":"1"},"spent":{"delta":"0","epsilon":"0"},"version":1}','{"admitted":2,"format":"optcomp-filter","kind":"sum","parameters":{"delta":"0","epsilon":"1"},"spent":{"delta":"0","epsilon":"3/10"},"version":1}',3,1383505805528216371,NULL,'open');
INSERT INTO "holders" VALUES(3,1,1,NULL,'grace','{"snapshot":null,"table":{"columns":[{"integers":[0,99],"name":"age"}],"grouped_by":[],"groups_per_person":1,"name":"people","neighbours":"add-remove","person":null,"population":null,"rows_per_group":1,"rows_per_person":1}}','{"admitted":0,"format":"optcomp-filter","kind":"sum","parameters":{"delta":"0","epsilon":"1/4"},"spent":{"delta":"0","epsilon":"0"},"version":1}','{"admitted":1,"format":"optcomp-filter","kind":"sum","parameters":{"delta":"0","epsilon":"1/4"},"spent":{"delta":"0","epsilon":"1/8"},"version":1}',2,2305843009213693952,NULL,'open');
INSERT INTO "holders" VALUES(4,1,1,3,'dan','{"snapshot":null,"table":{"columns":[{"integers":[0,99],"name":"age"}],"grouped_by":[],"groups_per_person":1,"name":"people","neighbours":"add-remove","person":null,"population":null,"rows_per_group":1,"rows_per_person":1}}','{"admitted":0,"format":"optcomp-filter","kind":"sum","parameters":{"delta":"0","epsilon":"1/4"},"spent":{"delta":"0","epsilon":"0"},"version":1}','{"admitted":1,"format":"optcomp-filter","kind":"sum","parameters":{"delta":"0","epsilon":"1/4"},"spent":{"delta":"0","epsilon":"1/8"},"version":1}',2,2305843009213693952,NULL,'open');
INSERT INTO "holders" VALUES(5,5,0,NULL,'other people','{"capped":true,"delta":"1/1000000","sample":null,"unit":null}','{"admitted":0,"format":"optcomp-filter","kind":"best","parameters":{"cap":"826408645684529/36028797018963968","delta":"1/1000000","delta_parts":"1/2000000","epsilon":"1"},"spent":{"delta":"0","epsilon":"0","rho":"0"},"version":1}','{"admitted":0,"format":"optcomp-filter","kind":"best","parameters":{"cap":"826408645684529/36028797018963968","delta":"1/1000000","delta_parts":"1/2000000","epsilon":"1"},"spent":{"delta":"0","epsilon":"0","rho":"0"},"version":1}',1,0,'{"delta":"0","epsilon":"0","rho":"0"}','open');
CREATE TABLE mechanisms (
	id BIGINT NOT NULL, 
	spec TEXT NOT NULL, 
	state TEXT NOT NULL, 
	version BIGINT NOT NULL, 
	PRIMARY KEY (id)
);
INSERT INTO "mechanisms" VALUES(3,'{"epsilon":"1/5","mechanism":"sparse vector","monotone":false,"positives":3,"refresh":false,"sensitivity":1,"share":"990583/4261416","threshold":"-1000000"}','gAAAAABq-9zXFw3wJ_kMeBjwr1emS4IFBvpzXb6xVLTdly39jxtMAurF1W_s7clFjayjl4FnrezlLSBl1_YbGcepyEbcvKq72xqBBzaBe1-ZPnVXgGW2OHiiY3RQqcFOxdqNCPVcpFLs0ZjO4DPw5hwtxe_PGbD6oZYz-jVUsKuhMfFmF6Uhux41EU4dtcIvLdqho1L5dxot9npfe5EvaujrA6NPzcxRU7uuG5oodc_c_W84AZpbMeuAUV7RGrps2uRuBcinPrRsl5uMXlYJV-jW1esPYdoy5lf7oNbv9tEU_5kVybyXogitobEGwtVc_Ollu60yDxIfKcAdY7NdWZtPUMp4zLKBmcCmCHwRqIdsZ7qZQegAzESiFnpgFW8F6JI5VlrNUwe5qh8N00sGDkVht7azeXeuJQ==',2);
CREATE TABLE requests (
	id INTEGER NOT NULL, 
	holder BIGINT NOT NULL, 
	"key" TEXT NOT NULL, 
	mechanism BIGINT, 
	kind VARCHAR(16) NOT NULL, 
	what TEXT NOT NULL, 
	form TEXT NOT NULL, 
	paid TEXT NOT NULL, 
	state VARCHAR(16) NOT NULL, 
	lease TEXT, 
	answer TEXT, 
	salt VARCHAR(64), 
	sequence BIGINT NOT NULL, 
	head VARCHAR(64) NOT NULL, 
	PRIMARY KEY (id), 
	UNIQUE (holder, "key"), 
	CHECK (state IN ('reserved', 'answered', 'delivered', 'failed')), 
	CHECK ((answer IS NULL) = (state IN ('reserved', 'failed')))
);
INSERT INTO "requests" VALUES(1,1,'session ada',NULL,'session','session ada','{"holder":2,"name":"ada","opened":{"admitted":0,"format":"optcomp-filter","kind":"sum","parameters":{"delta":"0","epsilon":"1"},"spent":{"delta":"0","epsilon":"0"},"version":1},"parent":1,"slot":null}','[{"delta":"0","epsilon":"1","kind":"ApproxDP"}]','delivered',NULL,'',NULL,4,'d0d0d3f6883bd34e2844740f434626f37559345b0852abe98931d95a631ab1db');
INSERT INTO "requests" VALUES(2,2,'question cae495128be9dc61a0f57ff86fd55eb4d628d3aaabe31627add0619dd2d96f3c',NULL,'question','count at ε = 0.1','{"question":{"epsilon":"1/10","noise":"laplace","statistic":{"count":"rows"}},"repeat":0,"snapshot":null}','[{"epsilon":"1/10","kind":"PureDP"}]','delivered',NULL,'{"amounts":[["110"]],"question":{"epsilon":"1/10","noise":"laplace","statistic":{"count":"rows"}}}','24aa3575d1be4b4207cbc051345d99c8f5777b15f8fd82b8259b71d512501e55',6,'29a688b88bf7bca01a859b4815e736a77466649a8b631c6da1a07d5f815e9d6b');
INSERT INTO "requests" VALUES(3,2,'mechanism 9103bea3dad3a133f22b269d1bbf05cd9856101d6d06be6324f8020b7281c123',NULL,'mechanism','sparse vector at ε = 0.2, threshold -1e+06, 3 positive','{"mechanism":{"epsilon":"1/5","mechanism":"sparse vector","monotone":false,"positives":3,"refresh":false,"sensitivity":1,"share":"990583/4261416","threshold":"-1000000"},"repeat":0,"snapshot":null}','[{"epsilon":"1/5","kind":"PureDP"}]','delivered',NULL,'{}','33a708a76d6b275bba8226e87cf4f204fa1cad93a39d7b53e3274ddfd7e9cb36',8,'b9d944c610f9c46503d46c93d839213d931691142f36d41f387496aee6dbe6d1');
INSERT INTO "requests" VALUES(4,2,'ask 575ac832059c26a32da1f593003bac5bf6f29e41d0646dccd2e662ad0b7d25c7',3,'ask','sparse vector at ε = 0.2, threshold -1e+06, 3 positive','{"ask":{"statistic":{"count":"rows"}},"mechanism":3,"repeat":0}','[]','answered',NULL,'true','bbe6a8d309b8125cf115cd87958e8d7044eba2c0b630bdaca535671253468015',9,'d7a013fc46dce6a3c5849827ac520e71f8bca8c44bfb09f566ab951777cd9634');
INSERT INTO "requests" VALUES(5,1,'session grace',NULL,'session','session grace','{"holder":3,"name":"grace","opened":{"admitted":0,"format":"optcomp-filter","kind":"sum","parameters":{"delta":"0","epsilon":"1/4"},"spent":{"delta":"0","epsilon":"0"},"version":1},"parent":1,"slot":null}','[{"delta":"0","epsilon":"1/4","kind":"ApproxDP"}]','delivered',NULL,'',NULL,10,'0ad8061e34fada8e4c0d46d0a2078821aad34e6507858e09c6809d43dfea612d');
INSERT INTO "requests" VALUES(6,3,'question 14333ba6ecf085b70b4bc3fe6784e69bc8a4726099ed9aa2cb199a31d8aea724',NULL,'question','count where age > 60 at ε = 0.125','{"question":{"epsilon":"1/8","noise":"laplace","statistic":{"count":"rows","where":"age > 60"}},"repeat":0,"snapshot":null}','[{"epsilon":"1/8","kind":"PureDP"}]','delivered',NULL,'{"amounts":[["27"]],"question":{"epsilon":"1/8","noise":"laplace","statistic":{"count":"rows","where":"age > 60"}}}','8e95666a8bf016887d3c120d50eac33b5baafed3c853cdcf873e17a1511c9783',12,'36005b101b214fdbac01d9046003ae72f74947158b1eb1fbc65f3db8f5bb4e61');
INSERT INTO "requests" VALUES(7,1,'batch batch',NULL,'batch','batch batch','{"name":"batch","plans":{},"slots":{"bob":["1/4","0"],"carol":["1/4","0"],"dan":["1/4","0"]},"theorem":"MV18-1.5","whole":["3/4","0"]}','[{"delta":"0","epsilon":"3/4","kind":"ApproxDP"}]','delivered',NULL,'',NULL,13,'d9750cb7b5435435023c2b25f8d13b638b254beae16bb648ca096dba160d36a9');
INSERT INTO "requests" VALUES(8,1,'session dan',NULL,'session','session dan','{"holder":4,"name":"dan","opened":{"admitted":0,"format":"optcomp-filter","kind":"sum","parameters":{"delta":"0","epsilon":"1/4"},"spent":{"delta":"0","epsilon":"0"},"version":1},"parent":1,"slot":3}','[]','delivered',NULL,'',NULL,15,'e9c06f28d3acdce3691a336ea70ffc98ade1016fd9facceb8827dda0bd22f6e6');
INSERT INTO "requests" VALUES(9,4,'question 4a39afbd1a4a4784f85aad88fdd8fb094352088087e0d6862c134d5908e2dc51',NULL,'question','count at ε = 0.125','{"question":{"epsilon":"1/8","noise":"laplace","statistic":{"count":"rows"}},"repeat":0,"snapshot":null}','[{"epsilon":"1/8","kind":"PureDP"}]','delivered',NULL,'{"amounts":[["90"]],"question":{"epsilon":"1/8","noise":"laplace","statistic":{"count":"rows"}}}','160daab17b3a5a213256449ea57154194879ad86d86f2cbd302f77d18f932535',17,'481ee072ef8e0f43f0a317694cca4b0cf6d3342ed0cbf7a9fec2bbab91bf6fea');
INSERT INTO "requests" VALUES(10,1,'elsewhere',NULL,'entered','a release made elsewhere','{"entered":"elsewhere"}','[{"epsilon":"1/2","kind":"PureDP"}]','delivered',NULL,'',NULL,18,'43eacb56137712a2afa08bc171185fcfd4f3db80a96eff9c32a0066f8e0fcbd3');
INSERT INTO "requests" VALUES(11,1,'release',NULL,'release','a release','{"of":"release"}','[{"epsilon":"1/4","kind":"PureDP"}]','answered',NULL,'{"told":1}','35b1858bbb217991e52f6f5a272b8aca0f422e83a08c3d2ddc4f4a5979c13103',20,'693758e598ca225312da2cc44e533f6e46f70a155c80d2e98bf82cb2bccfe0c4');
CREATE TABLE slots (
	id INTEGER NOT NULL, 
	account BIGINT NOT NULL, 
	batch BIGINT NOT NULL, 
	parent BIGINT, 
	name TEXT NOT NULL, 
	epsilon TEXT NOT NULL, 
	delta TEXT NOT NULL, 
	"plan" VARCHAR(64), 
	state VARCHAR(16) NOT NULL, 
	PRIMARY KEY (id), 
	UNIQUE (account, name), 
	CHECK (state IN ('free', 'taken', 'split', 'spent'))
);
INSERT INTO "slots" VALUES(1,1,7,NULL,'bob','1/4','0',NULL,'free');
INSERT INTO "slots" VALUES(2,1,7,NULL,'carol','1/4','0',NULL,'split');
INSERT INTO "slots" VALUES(3,1,7,NULL,'dan','1/4','0',NULL,'taken');
INSERT INTO "slots" VALUES(4,1,7,2,'carol 1','1/8','0',NULL,'free');
INSERT INTO "slots" VALUES(5,1,7,2,'carol 2','1/8','0',NULL,'free');
COMMIT;
